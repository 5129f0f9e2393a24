"""Power laws, against numpy's own fit."""

import numpy as np
import pytest

from flatlas.statistics.power_law import power_law

pytestmark = pytest.mark.filterwarnings("error")


def test_a_power_law_is_found():
    x = np.geomspace(1, 1e4, 30)
    y = np.stack([3 * x**-1.5, 0.1 * x**2])
    slope, intercept = power_law(x, y)
    np.testing.assert_allclose(slope, [-1.5, 2], rtol=1e-12)
    np.testing.assert_allclose(intercept, np.log10([3, 0.1]), rtol=1e-12)


def test_missing_points_are_left_out():
    """What is not positive has no logarithm, what is not finite is not known."""
    rng = np.random.default_rng(0)
    x, y = rng.lognormal(size=(2, 5, 40))
    y[:, ::7], y[:, 1], x[:, 2] = np.nan, -1.0, 0.0
    slope, intercept = power_law(x, y)
    for row in range(5):
        kept = (x[row] > 0) & (y[row] > 0)
        logs = np.log10(x[row, kept]), np.log10(y[row, kept])
        np.testing.assert_allclose((slope[row], intercept[row]), np.polyfit(*logs, 1), rtol=1e-10)


def test_fewer_than_two_points_make_no_line():
    y = np.array([[1.0, np.nan, np.nan], [np.nan] * 3])
    assert np.isnan(power_law(np.array([1.0, 2, 3]), y)).all()
    assert np.isnan(power_law(np.empty((2, 0)), np.empty((2, 0)))).all()
