"""All nets as one sample or by realization, with and without an axis of resamples between."""

import numpy as np

from flatlas.statistics.correlation import pearson
from flatlas.statistics.estimate import estimate
from flatlas.statistics.pooling import over_all_nets, within_realizations


def test_all_nets_of_each_resample_are_one_sample():
    x, y = np.random.default_rng(0).normal(size=(2, 4, 5, 3))
    expected = [np.corrcoef(x[:, n].ravel(), y[:, n].ravel())[0, 1] for n in range(5)]
    np.testing.assert_allclose(over_all_nets(pearson)(x, y), expected)
    np.testing.assert_allclose(over_all_nets(pearson)(x[:, 0], y[:, 0]), expected[0])


def test_differences_between_realizations_are_no_trend_within_them():
    """Simpson's paradox: each realization falls, all of them together rise."""
    apart = 10.0 * np.arange(4)[:, np.newaxis]
    x, y = apart + np.arange(3.0), apart - np.arange(3.0)
    assert over_all_nets(pearson)(x, y) > 0.9
    np.testing.assert_allclose(within_realizations(pearson)(x, y), -1)


def test_a_realization_without_a_number_is_left_out_of_the_mean():
    x, y = np.random.default_rng(0).normal(size=(2, 4, 5, 3))
    x[0, 1] = np.nan
    found = within_realizations(pearson)(x, y)
    expected = [np.corrcoef(x[seed, 1], y[seed, 1])[0, 1] for seed in (1, 2, 3)]
    np.testing.assert_allclose(found[1], np.mean(expected))


def test_only_intervals_within_realizations_cover_a_correlation():
    """Nets along eleven steps, in realizations that differ as much as their nets do.

    The true value is that of many realizations. Intervals of 95 % are those of five realizations.
    """
    rng = np.random.default_rng(1)

    def measured(realizations):
        apart = rng.normal(0, 0.06, (2, realizations, 1))
        return np.linspace(0, 1, 11) + rng.normal(0, 0.05, (2, realizations, 11)) + apart

    covers = {}
    for pooling in (over_all_nets, within_realizations):
        true = float(pooling(pearson)(*measured(4000)))
        found = [estimate(pooling(pearson), *measured(5)) for _ in range(80)]
        covers[pooling] = np.mean([one.low <= true <= one.high for one in found])
    assert covers[within_realizations] > 0.85
    assert covers[over_all_nets] < 0.75
