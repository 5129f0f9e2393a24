"""Bootstrap estimates against closed forms, and of nets pooled in two ways."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from flatlas.statistics.correlation import pearson
from flatlas.statistics.estimate import (
    UNKNOWN,
    Estimate,
    estimate,
    jackknife,
    least,
    least_share,
    share_of_ones,
)
from flatlas.statistics.means import mean
from flatlas.statistics.pooling import over_all_nets, within_realizations


def assert_student(found, sample):
    """2000 resamples know each end to a tenth of the half-width, and the width to a twentieth."""
    half = stats.t.ppf(0.975, len(sample) - 1) * sample.std(ddof=1) / sqrt(len(sample))
    assert found.value == pytest.approx(sample.mean(), rel=1e-12)
    assert found.low == pytest.approx(sample.mean() - half, abs=0.12 * half)
    assert found.high == pytest.approx(sample.mean() + half, abs=0.12 * half)
    assert found.high - found.low == pytest.approx(2 * half, rel=0.05)


def jackknife_of_mean(sample):
    parts = np.stack([sample, np.ones(len(sample))], axis=1)
    return jackknife(lambda sums: sums[..., 0] / sums[..., 1], parts)


def share_that_covers(value, estimates):
    return np.mean([found.low <= value <= found.high for found in estimates])


@pytest.mark.parametrize("count", [10, 30, 300])
def test_the_interval_of_a_mean_is_student_s(count):
    """For a sample of quantiles of a normal distribution; equal samples have equal intervals."""
    sample = 3 + 2 * stats.norm.ppf((np.arange(count) + 0.5) / count)
    found = estimate(mean, sample)
    assert_student(found, sample)
    assert found == estimate(mean, sample.copy())


def test_95_percent_of_intervals_hold_a_ratio_of_skewed_quantities():
    """The realizations share a factor, as seeds share their images."""
    rng = np.random.default_rng(3)

    def ratio():
        shared = rng.lognormal(0, 0.5, size=10)
        first, last = shared * rng.lognormal(0, 0.2, size=(2, 10))
        return estimate(lambda a, b: mean(b) / mean(a), first, last)

    assert 0.91 <= share_that_covers(1, (ratio() for _ in range(500))) <= 0.98


@pytest.mark.parametrize(
    ("count", "share", "margin"),
    [(2, 0.5, 0.06), (3, 0.75, 0.06), (4, 0.875, 0.06), (10, 0.95, 0.02)],
)
def test_intervals_of_normal_realizations_hold_the_mean_as_often_as_they_claim(
    count, share, margin
):
    """The range of n values misses a centre with all of them on one side: 2^(1-n) of the time.

    Of 1000 intervals of ten values 50 ± 7 should miss it; plain percentile intervals miss 100.
    """
    samples = np.random.default_rng(2).normal(size=(1000, count))
    covered = share_that_covers(0, (estimate(mean, sample) for sample in samples))
    assert covered == pytest.approx(share, abs=margin)


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


def test_intervals_within_realizations_cover_a_correlation():
    """Nets along eleven steps, in realizations that differ as much as their nets do.

    The true value is that of many realizations. Intervals of 95 % are those of five realizations.
    """
    rng = np.random.default_rng(1)

    def measured(realizations):
        apart = rng.normal(0, 0.06, (2, realizations, 1))
        return np.linspace(0, 1, 11) + rng.normal(0, 0.05, (2, realizations, 11)) + apart

    pooled = within_realizations(pearson)
    true = float(pooled(*measured(4000)))
    assert share_that_covers(true, (estimate(pooled, *measured(5)) for _ in range(80))) > 0.85


@pytest.mark.parametrize("count", [3, 5, 30])
def test_the_jackknife_of_a_mean_is_students_interval(count):
    sample = np.random.default_rng(0).normal(size=count)
    found = jackknife_of_mean(sample)
    half = stats.t.ppf(0.975, count - 1) * sample.std(ddof=1) / sqrt(count)
    assert found.value == pytest.approx(sample.mean())
    assert (found.low, found.high) == pytest.approx((sample.mean() - half, sample.mean() + half))


def test_the_jackknife_needs_three_realizations_and_a_number_without_each():
    of_two = jackknife(lambda sums: sums, np.array([1.0, 2.0]))
    one_is_all = jackknife(lambda sums: np.where(sums > 1, sums, np.nan), np.array([1.0, 0.0, 1.0]))
    assert (of_two.value, one_is_all.value) == (3, 2)
    assert np.isnan([of_two.low, one_is_all.high]).all()


def test_the_least_of_one_value_has_its_interval():
    one = Estimate(0.3, 0.1, 0.5)
    found = least([one], 5)
    assert (found.value, found.low, found.high) == pytest.approx((0.3, 0.1, 0.5))
    assert least([], 5) == UNKNOWN


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_least_is_unknown_if_one_value_is(place):
    found = [Estimate(0.3, 0.1, 0.5), Estimate(0.4, 0.3, 0.5)]
    least_of_all = least([*found[:place], UNKNOWN, *found[place:]], 5)
    assert np.isnan([least_of_all.value, least_of_all.low, least_of_all.high]).all()


def test_an_end_that_is_cut_off_does_not_narrow_the_interval_of_the_least():
    whole, cut_off = Estimate(0.05, -0.15, 0.25), Estimate(0.05, 0.0, 0.25)
    assert least([cut_off] * 3, 5).high == pytest.approx(least([whole] * 3, 5).high)
    assert least([Estimate(0.9, 0.8, 1.0)] * 3, 5).high == 1


def test_the_least_of_equal_values_is_seldom_too_small():
    """Twelve values that are all 0, each known from five realizations."""
    parts = np.random.default_rng(0).normal(size=(1000, 12, 5))
    found = [least([jackknife_of_mean(one) for one in case], 5) for case in parts]
    assert np.mean([one.high >= 0 for one in found]) >= 0.96


@pytest.mark.parametrize(("ones", "count"), [(60, 60), (0, 20), (119, 120), (14, 20), (1, 2)])
def test_the_interval_of_a_share_is_exact(ones, count):
    met = np.array([1.0] * ones + [0.0] * (count - ones) + [np.nan])
    found, exact = share_of_ones(met), stats.binomtest(ones, count).proportion_ci()
    assert found.value == ones / count
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_the_least_share_has_bonferronis_upper_end():
    met = np.array([[1.0] * 20, [1.0] * 14 + [0.0] * 6]).T
    found = least_share(met)
    low = stats.binomtest(14, 20).proportion_ci(0.95).low
    high = stats.binomtest(14, 20).proportion_ci(0.975).high
    assert (found.value, found.low, found.high) == pytest.approx((0.7, low, high), abs=1e-12)


def test_a_single_training_has_a_share_without_an_interval():
    found = share_of_ones(np.array([np.nan, 1.0]))
    assert found.value == 1 and np.isnan([found.low, found.high]).all()
    assert np.isnan(share_of_ones(np.full(3, np.nan)).value)
