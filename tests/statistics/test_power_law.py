"""Power laws compared with NumPy's fit, and the coverage of their intervals."""

import numpy as np
import pytest

from flatlas.statistics.estimate import over_directions
from flatlas.statistics.power_law import power_law, slope

pytestmark = pytest.mark.filterwarnings("error")


def test_a_fit_is_numpy_s_over_the_points_with_a_logarithm():
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


@pytest.mark.parametrize("x", [0.01, 0.3])
def test_a_constant_has_no_slope(x):
    assert np.isnan(power_law(np.full(7, x), np.arange(1, 8.0) ** 2)).all()


def test_the_exponent_of_an_exact_power_law_has_no_width():
    flatness = np.random.default_rng(1).lognormal(size=(4, 30))
    found = over_directions(slope, flatness, 2 * flatness**-4)
    assert (found.value, found.low, found.high) == pytest.approx((-4, -4, -4), rel=1e-10)


@pytest.mark.parametrize(("realizations", "of_ranks"), [(8, 0.2), (4, 0.07)])
def test_95_percent_of_intervals_hold_an_exponent_that_varies(realizations, of_ranks):
    """It varies with the realization and with the rank.

    Without a resampling of ranks the first intervals would miss 17 of 100 times; as wide as for ten
    realizations, the second ones would miss 13 times.
    """
    rng, x = np.random.default_rng(2), np.geomspace(20, 200, 10)
    missed = 0
    for _ in range(100):
        slopes = -2.6 + 0.2 * rng.normal(size=(realizations, 1))
        ranks, rest = of_ranks * rng.normal(size=10), 0.02 * rng.normal(size=(realizations, 10))
        y = np.exp(slopes * np.log(x / 60) + ranks + rest)
        found = over_directions(slope, x, y)
        missed += not found.low <= -2.6 <= found.high
    assert missed <= 10


def test_one_realization_has_the_interval_of_its_directions():
    rng = np.random.default_rng(3)
    x = rng.lognormal(size=(1, 100))
    found = over_directions(slope, x, x**-2 * rng.lognormal(sigma=0.5, size=x.shape))
    error = 0.5 / np.sqrt(100) / np.log(x).std()
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.2)
