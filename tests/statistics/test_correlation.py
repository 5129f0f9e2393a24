"""Correlations of many samples at once, against scipy's of one."""

from math import isnan

import numpy as np
import pytest
from scipy import stats

from flatlas.statistics.correlation import kendall, pearson, spearman
from flatlas.statistics.means import mean

pytestmark = pytest.mark.filterwarnings("error")

SCIPYS = [(pearson, stats.pearsonr), (spearman, stats.spearmanr), (kendall, stats.kendalltau)]


@pytest.mark.parametrize(("ours", "scipys"), SCIPYS)
def test_each_sample_has_scipys_coefficient(ours, scipys):
    rng = np.random.default_rng(0)
    # Rounded, so that there are ties.
    x, y = np.round(rng.normal(size=(2, 3, 4, 25)), 1)
    found = ours(x, y)
    assert found.shape == (3, 4)
    for i, j in np.ndindex(3, 4):
        assert found[i, j] == pytest.approx(scipys(x[i, j], y[i, j]).statistic, rel=1e-12)


def test_kendall_knows_more_points_than_a_byte_has_values():
    """300 of them, tied in either and in both, and some unknown."""
    rng = np.random.default_rng(2)
    x = np.round(rng.normal(size=(3, 300)), 1)
    y = np.round(x + rng.normal(size=(3, 300)), 1)
    x[0, :9] = np.nan
    for found, one, other in zip(kendall(x, y), x, y, strict=True):
        known = np.isfinite(one)
        expected = stats.kendalltau(one[known], other[known]).statistic
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("ours", "scipys"), SCIPYS)
def test_points_of_which_half_is_missing_are_left_out(ours, scipys):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 30))
    known = np.ones(30, dtype=bool)
    known[[0, 7, 21]] = False
    expected = scipys(x[known], y[known]).statistic
    holes_x, holes_y = x.copy(), y.copy()
    holes_x[[0, 7]], holes_y[[7, 21]] = np.nan, [np.inf, np.nan]
    assert ours(holes_x, holes_y) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("ours", [pearson, spearman, kendall])
def test_a_constant_has_no_correlation(ours):
    """Not even where its mean is off by round-off."""
    x = np.arange(7.0)
    assert isnan(ours(x, np.full(7, 0.1)))
    assert isnan(ours(np.full(7, 0.1), x))


@pytest.mark.parametrize("ours", [pearson, spearman, kendall])
def test_fewer_than_three_points_have_no_correlation(ours):
    """Of two any coefficient is 1 or -1."""
    assert isnan(ours(np.array([1.0, np.nan]), np.array([2.0, 3.0])))
    assert isnan(ours(np.array([1.0, 4.0]), np.array([2.0, 3.0])))
    assert isnan(ours(np.array([1.0, 4.0, np.nan]), np.array([2.0, 3.0, 7.0])))
    assert isnan(ours(np.full(4, np.nan), np.arange(4.0)))


def test_a_monotone_relation_has_rank_correlation_one():
    x = np.linspace(-2, 2, 20)
    assert spearman(x, np.exp(3 * x)) == pytest.approx(1)
    assert spearman(x, -(x**3)) == pytest.approx(-1)
    assert kendall(x, np.exp(3 * x)) == pytest.approx(1)
    assert kendall(x, -(x**3)) == pytest.approx(-1)


def test_one_sample_is_held_against_many():
    over = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    np.testing.assert_allclose(spearman(over, np.array([0.1, 0.2, 0.4])), [1, -1])


def test_a_mean_is_over_what_is_known():
    over = np.array([[1.0, np.nan, np.nan], [3.0, 4.0, np.nan]])
    np.testing.assert_array_equal(mean(over), [2.0, 4.0, np.nan])
    np.testing.assert_array_equal(mean(over, -1), [1.0, 3.5])
