"""Statistics of a sweep, by hand."""

import numpy as np
import pytest

from flatlas.statistics.trends import (
    change,
    nearest,
    pooled,
    share,
    share_of_a_fall,
    share_of_a_rise,
    trend,
)

pytestmark = pytest.mark.filterwarnings("error")


def test_change_share_and_trend_are_those_of_means():
    whole = np.array([[1.0, 5.0, 2.0], [3.0, 5.0, 4.0]])
    part = np.array([[1.0, 5.0, 1.5], [1.0, 5.0, 1.0]])
    assert change(whole) == pytest.approx(0.5)
    assert share(part, whole) == pytest.approx(0.25)
    assert trend([0.1, 0.2, 0.4])(whole) == pytest.approx(0.5)
    assert pooled(whole, -whole) == pytest.approx(-1)


@pytest.mark.parametrize(("rising", "falling"), [(0.25, -0.25), (-0.25, -0.25)])
def test_a_part_has_no_share_in_a_change_that_goes_the_other_way(rising, falling):
    """The share of that part is negative, whichever way the change goes."""
    whole = np.array([[1.0, 3.0]])
    part = np.array([[1.0, 1.0 + 2 * rising]])
    assert share_of_a_rise(part, whole) == pytest.approx(rising)
    assert share_of_a_fall(part, whole) == pytest.approx(falling)
    assert share_of_a_fall(-part, -whole) == pytest.approx(rising)


def test_the_nearest_value_is_never_the_last():
    assert nearest([0, 25, 100, 200, 400], 200) == 3
    assert nearest([100, 1000, 2000], 2000) == 1
    assert nearest([100, 5000, 10000], 2000) == 1
    assert nearest([100], 2000) == nearest([], 2000) == 0
