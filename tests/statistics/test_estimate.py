"""Estimates by the bootstrap against closed forms."""

from math import isnan, sqrt

import numpy as np
import pytest
from scipy import stats

from flatlas.statistics.estimate import UNKNOWN, estimate
from flatlas.statistics.means import mean


def students(sample):
    """Student's interval of a mean."""
    half = stats.t.ppf(0.975, len(sample) - 1) * sample.std(ddof=1) / sqrt(len(sample))
    return sample.mean() - half, sample.mean() + half


@pytest.mark.parametrize("count", [10, 30, 300])
def test_the_interval_of_a_mean_is_students(count):
    """Of a sample as normal as can be: the quantiles of the normal distribution."""
    sample = 3 + 2 * stats.norm.ppf((np.arange(count) + 0.5) / count)
    found = estimate(mean, sample)
    low, high = students(sample)
    assert found.value == pytest.approx(sample.mean(), rel=1e-12)
    # 2000 resamples know a quantile to some percent of the interval's width.
    assert found.low == pytest.approx(low, abs=0.06 * (high - low))
    assert found.high == pytest.approx(high, abs=0.06 * (high - low))


def test_95_of_100_intervals_of_ten_normal_realizations_hold_the_mean():
    """Of 1000: a fair one misses 50 ± 7; the plain percentile interval misses about 100."""
    samples = np.random.default_rng(2).normal(size=(1000, 10))
    found = [estimate(mean, sample) for sample in samples]
    missed = sum(not one.low <= 0 <= one.high for one in found)
    assert 30 <= missed <= 70
    drawn = np.random.default_rng(0).integers(10, size=(2000, 10))
    plain = [np.quantile(sample[drawn].mean(1), [0.025, 0.975]) for sample in samples]
    assert sum(not low <= 0 <= high for low, high in plain) > 80


def test_95_of_100_intervals_hold_a_ratio_of_skewed_quantities():
    """Of realizations that share a factor, as seeds share their images."""
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(500):
        shared = rng.lognormal(0, 0.5, size=10)
        first, last = shared * rng.lognormal(0, 0.2, size=(2, 10))
        found = estimate(lambda a, b: mean(b) / mean(a), first, last)
        missed += not found.low <= 1 <= found.high
    assert 10 <= missed <= 45


def test_realizations_are_drawn_together():
    """The difference of what is equal in each realization is 0, however much they spread."""
    sample = np.random.default_rng(4).normal(size=12)
    found = estimate(lambda a, b: mean(a) - mean(b), sample, sample + 1)
    assert (found.low, found.high) == pytest.approx((-1, -1))


def test_statistics_of_last_axes_find_all_resamples_between():
    """One call for the value, one for all resamples: (realizations, [resamples,] values)."""
    seen = []

    def last_less_first(over):
        seen.append(over.shape)
        return mean(over)[..., -1] - mean(over)[..., 0]

    over = np.random.default_rng(5).normal(size=(10, 4))
    found = estimate(last_less_first, over)
    assert seen == [(10, 4), (10, 2000, 4)]
    low, high = students(over[:, -1] - over[:, 0])
    assert found.low == pytest.approx(low, abs=0.06 * (high - low))
    assert found.high == pytest.approx(high, abs=0.06 * (high - low))


def test_one_realization_has_no_interval():
    found = estimate(mean, np.array([2.5]))
    assert found.value == 2.5
    assert isnan(found.low)
    assert isnan(found.high)


def test_two_realizations_have_their_whole_range():
    found = estimate(mean, np.array([1.0, 3.0]))
    assert (found.value, found.low, found.high) == (2, 1, 3)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_few_realizations_hold_the_mean_as_often_as_their_range_does(count):
    """The range of n values misses a centre on whose one side all lie: 2^(1-n) of the time."""
    samples = np.random.default_rng(7).normal(size=(800, count))
    found = [estimate(mean, sample) for sample in samples]
    held = np.mean([one.low <= 0 <= one.high for one in found])
    assert held == pytest.approx(1 - 2.0 ** (1 - count), abs=0.06)


def test_missing_realizations_are_left_out():
    sample = np.array([1.0, 2.0, 3.0, 4.0, np.nan, np.nan])
    found = estimate(mean, sample)
    assert found.value == 2.5
    assert 1 <= found.low < 2.5 < found.high <= 4


def test_few_solutions_widen_the_interval():
    """Three of ten realizations say as little about their mean as three of three."""
    sample = np.full((10, 1), np.nan)
    sample[:3, 0] = [1.0, 2.0, 4.0]
    all_told = estimate(lambda over: mean(over)[..., 0], sample)
    honest = estimate(lambda over: mean(over)[..., 0], sample, fewest=3)
    assert honest.value == all_told.value
    assert (honest.low, honest.high) == (1, 4)
    assert honest.high - honest.low >= all_told.high - all_told.low
    assert isnan(estimate(lambda over: mean(over)[..., 0], sample, fewest=1).low)


def test_nothing_known_is_no_number():
    found = estimate(mean, np.full(5, np.nan))
    assert isnan(found.value)
    assert isnan(found.low)
    assert isnan(UNKNOWN.value)


def test_the_same_numbers_give_the_same_interval():
    sample = np.random.default_rng(6).normal(size=10)
    assert estimate(mean, sample) == estimate(mean, sample.copy())
