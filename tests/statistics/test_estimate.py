"""Bootstrap estimates compared with closed forms."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from flatlas.statistics.estimate import UNKNOWN, estimate
from flatlas.statistics.means import mean


def assert_student(found, sample):
    """2000 resamples know a quantile to a few percent of the interval's width."""
    half = stats.t.ppf(0.975, len(sample) - 1) * sample.std(ddof=1) / sqrt(len(sample))
    assert found.value == pytest.approx(sample.mean(), rel=1e-12)
    assert found.low == pytest.approx(sample.mean() - half, abs=0.12 * half)
    assert found.high == pytest.approx(sample.mean() + half, abs=0.12 * half)


def share_that_covers(value, estimates):
    return np.mean([found.low <= value <= found.high for found in estimates])


@pytest.mark.parametrize("count", [10, 30, 300])
def test_the_interval_of_a_mean_is_student_s(count):
    """For a sample of quantiles of a normal distribution; equal samples have equal intervals."""
    sample = 3 + 2 * stats.norm.ppf((np.arange(count) + 0.5) / count)
    found = estimate(mean, sample)
    assert_student(found, sample)
    assert found == estimate(mean, sample.copy())


def test_95_percent_of_intervals_of_ten_normal_realizations_hold_the_mean():
    """Of 1000 intervals 50 ± 7 should miss it; plain percentile intervals miss about 100."""
    samples = np.random.default_rng(2).normal(size=(1000, 10))
    covered = share_that_covers(0, (estimate(mean, sample) for sample in samples))
    assert 0.93 <= covered <= 0.97


def test_95_percent_of_intervals_hold_a_ratio_of_skewed_quantities():
    """The realizations share a factor, as seeds share their images."""
    rng = np.random.default_rng(3)

    def ratio():
        shared = rng.lognormal(0, 0.5, size=10)
        first, last = shared * rng.lognormal(0, 0.2, size=(2, 10))
        return estimate(lambda a, b: mean(b) / mean(a), first, last)

    assert 0.91 <= share_that_covers(1, (ratio() for _ in range(500))) <= 0.98


@pytest.mark.parametrize("count", [2, 3, 4])
def test_few_realizations_hold_the_mean_as_often_as_their_range_does(count):
    """The range of n values misses a centre with all of them on one side: 2^(1-n) of the time."""
    samples = np.random.default_rng(7).normal(size=(800, count))
    covered = share_that_covers(0, (estimate(mean, sample) for sample in samples))
    assert covered == pytest.approx(1 - 2.0 ** (1 - count), abs=0.06)


def test_realizations_are_drawn_together():
    """A difference that is equal in each realization has an interval of width 0."""
    sample = np.random.default_rng(4).normal(size=12)
    found = estimate(lambda a, b: mean(a) - mean(b), sample, sample + 1)
    assert (found.low, found.high) == pytest.approx((-1, -1))


def test_statistics_of_last_axes_find_all_resamples_between():
    """One call for the value, one for all resamples: (realizations, [resamples,] values)."""
    seen = []

    def last_minus_first(over):
        seen.append(over.shape)
        return mean(over)[..., -1] - mean(over)[..., 0]

    over = np.random.default_rng(5).normal(size=(10, 4))
    assert_student(estimate(last_minus_first, over), over[:, -1] - over[:, 0])
    assert seen == [(10, 4), (10, 2000, 4)]


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ([2.5], (2.5, np.nan, np.nan)),
        ([1.0, 3.0], (2, 1, 3)),
        ([np.nan] * 5, (np.nan,) * 3),
    ],
)
def test_the_interval_of_very_few_realizations(sample, expected):
    found = estimate(mean, np.array(sample))
    assert (found.value, found.low, found.high) == pytest.approx(expected, nan_ok=True)
    assert np.isnan(UNKNOWN.value)


def test_missing_realizations_are_left_out():
    found = estimate(mean, np.array([1.0, 2.0, 3.0, 4.0, np.nan, np.nan]))
    assert found.value == 2.5
    assert 1 <= found.low < 2.5 < found.high <= 4


def test_few_solutions_widen_the_interval():
    """Three of ten realizations say as little about their mean as three of three."""
    sample = np.full((10, 1), np.nan)
    sample[:3, 0] = [1.0, 2.0, 4.0]
    of_ten, of_three, of_one = (
        estimate(lambda over: mean(over)[..., 0], sample, fewest=fewest) for fewest in (None, 3, 1)
    )
    assert of_three.value == of_ten.value
    assert (of_three.low, of_three.high) == (1, 4)
    assert of_ten.high - of_ten.low <= 3
    assert np.isnan(of_one.low)
