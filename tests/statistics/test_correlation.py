"""Correlations of many samples at once, compared with SciPy's of one sample."""

import numpy as np
import pytest
from scipy import stats

from flatlas.statistics.correlation import kendall, pearson, spearman
from flatlas.statistics.means import mean

pytestmark = pytest.mark.filterwarnings("error")

SCIPY = {pearson: stats.pearsonr, spearman: stats.spearmanr, kendall: stats.kendalltau}
every_coefficient = pytest.mark.parametrize("ours", SCIPY)


@every_coefficient
@pytest.mark.parametrize("points", [25, 300])
def test_each_sample_has_the_coefficient_of_scipy(ours, points):
    """Rounded values tie; unknown points are left out; 300 points do not fit into a byte."""
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=(2, 3, points)), 1)
    y = np.round(x + rng.normal(size=x.shape), 1)
    x[0, 0, [0, 7]], y[0, 0, [7, 21]], y[1, 2, :9] = np.nan, [np.inf, np.nan], np.nan
    found = ours(x, y)
    assert found.shape == (2, 3)
    for place in np.ndindex(2, 3):
        known = np.isfinite(x[place]) & np.isfinite(y[place])
        expected = SCIPY[ours](x[place][known], y[place][known]).statistic
        assert found[place] == pytest.approx(expected, rel=1e-12)


@every_coefficient
@pytest.mark.parametrize(
    ("x", "y"),
    [
        # The mean of a constant may be off by round-off.
        (np.arange(7.0), [0.1] * 7),
        ([0.1] * 7, np.arange(7.0)),
        (1 + np.array([0, 2, 1, 3, 0, 1, 2]) * 2.0**-52, np.arange(7.0)),
        # For two points any coefficient is 1 or -1.
        ([1.0, np.nan], [2.0, 3.0]),
        ([1.0, 4.0], [2.0, 3.0]),
        ([1.0, 4.0, np.nan], [2.0, 3.0, 7.0]),
        ([np.nan] * 4, np.arange(4.0)),
    ],
)
def test_a_constant_or_fewer_than_three_points_have_no_correlation(ours, x, y):
    assert np.isnan(ours(np.array(x), np.array(y)))


def test_a_mean_covers_the_known_values():
    over = np.array([[1.0, np.nan, np.nan], [3.0, 4.0, np.nan]])
    np.testing.assert_array_equal(mean(over), [2.0, 4.0, np.nan])
    np.testing.assert_array_equal(mean(over, -1), [1.0, 3.5])
