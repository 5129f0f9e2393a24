"""How many realizations would decide: against intervals of as many simulated ones."""

from functools import cache, partial
from math import inf

import numpy as np
import pytest
from scipy import stats

from flatlas.statistics.estimate import Estimate, estimate
from flatlas.statistics.means import mean
from flatlas.statistics.more_realizations import MOST, narrow_enough, resampled, student

DISTANCE = 1.0
bootstrap = partial(estimate, mean)


def median_half(count, spread):
    """Half the median interval of so many normal realizations."""
    samples = np.random.default_rng(8).normal(scale=spread, size=(20, count))
    return np.median([one.high - one.low for one in map(bootstrap, samples)]) / 2


@cache
def needed_in_truth(spread):
    """The first number of realizations whose interval, as a rule, ends before the bound."""
    counts = np.unique(np.geomspace(5, 120, 12).astype(int))
    return next(count for count in counts if median_half(count, spread) < DISTANCE)


@pytest.mark.parametrize("have", [3, 5, 10])
@pytest.mark.parametrize("spread", [2.0, 4.0])
def test_it_is_right_within_a_factor_of_two_on_average(have, spread):
    """The realizations are normal, their mean stays, and they leave the claim undecided."""
    said = []
    for sample in np.random.default_rng(have).normal(scale=spread, size=(80, have)):
        found = bootstrap(sample - sample.mean() + DISTANCE)
        if found.low < 0:
            said.append(narrow_enough(found, [0, inf], have) or MOST)
    ratio = np.exp(np.mean(np.log(np.array(said) / needed_in_truth(spread))))
    assert len(said) > 20 and 0.5 < ratio < 2


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
def test_half_an_interval_of_normal_realizations(count):
    """Four have a wider interval than three: it covers more. That of five is a sixth too narrow."""
    samples = np.random.default_rng(9).normal(size=(400, count))
    halves = [(one.high - one.low) / 2 for one in map(bootstrap, samples)]
    assert np.mean(halves) == pytest.approx(resampled(np.array(count)), rel=0.2)


def test_half_a_jackknife_is_student_s():
    counts = np.array([3, 6])
    assert student(counts) == pytest.approx(stats.t.ppf(0.975, counts - 1) / np.sqrt(counts))


def test_three_realizations_need_five_at_least():
    """The interval of fewer does not cover 95 %."""
    assert narrow_enough(Estimate(0.9, -0.01, 1.81), [0], 3) >= 5
    assert narrow_enough(Estimate(100, -0.01, 101), [0], 3) == 5


def test_the_nearer_end_counts():
    found = Estimate(0.2, -0.5, 0.9)
    assert narrow_enough(found, [0, 1], 5) == narrow_enough(found, [0, inf], 5)
    assert narrow_enough(Estimate(0.8, 0.1, 1.5), [0, 1], 5) == narrow_enough(found, [0, 1], 5)


@pytest.mark.parametrize("found", [Estimate(1e-4, -1, 1), Estimate(0.5, -inf, inf)])
def test_too_many_are_not_counted(found):
    assert narrow_enough(found, [0], 5) is None
