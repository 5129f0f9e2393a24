"""Nets all at once or by realization, with and without an axis of resamples between."""

import numpy as np

from flatlas.statistics.correlation import pearson
from flatlas.statistics.pooling import over_all_nets, within_realizations


def test_all_nets_are_one_sample():
    x, y = np.random.default_rng(0).normal(size=(2, 4, 3))
    expected = np.corrcoef(x.ravel(), y.ravel())[0, 1]
    np.testing.assert_allclose(over_all_nets(pearson)(x, y), expected)


def test_each_resample_is_a_sample_of_its_own():
    x, y = np.random.default_rng(0).normal(size=(2, 4, 5, 3))
    found = over_all_nets(pearson)(x, y)
    expected = [np.corrcoef(x[:, n].ravel(), y[:, n].ravel())[0, 1] for n in range(5)]
    np.testing.assert_allclose(found, expected)


def test_what_sets_realizations_apart_is_no_trend_within_them():
    """Simpson's paradox: each realization falls, all of them together rise."""
    apart = 10.0 * np.arange(4)[:, np.newaxis]
    x, y = apart + np.arange(3.0), apart - np.arange(3.0)
    assert over_all_nets(pearson)(x, y) > 0.9
    np.testing.assert_allclose(within_realizations(pearson)(x, y), -1)


def test_a_realization_without_a_number_has_no_part_in_the_mean():
    x, y = np.random.default_rng(0).normal(size=(2, 4, 5, 3))
    x[0, 1] = np.nan
    found = within_realizations(pearson)(x, y)
    expected = [np.corrcoef(x[seed, 1], y[seed, 1])[0, 1] for seed in (1, 2, 3)]
    np.testing.assert_allclose(found[1], np.mean(expected))
