"""One number of several means: how often its interval holds that of the true means."""

from functools import partial
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from flatlas.statistics.joint import Joint
from flatlas.statistics.means import largest, mean, smallest

LARGEST = Joint(mean, largest, sizes=True)
MEAN_SIZE = Joint(mean, partial(mean, axis=-1), sizes=True)
LEAST = Joint(mean, smallest)
CASES = 40


def intervals(number, true, sd, count):
    """In every second case the errors of the means are almost the same."""
    rng = np.random.default_rng(count)
    shared = np.resize([0.0, 0.9], CASES)[:, np.newaxis, np.newaxis]
    noise = rng.normal(size=(CASES, count, len(true)))
    noise = np.sqrt(shared) * rng.normal(size=(CASES, count, 1)) + np.sqrt(1 - shared) * noise
    return [number.estimate(true + sd * one) for one in noise]


@pytest.mark.parametrize("count", [3, 5, 10, 20])
@pytest.mark.parametrize(
    ("number", "true", "sd"),
    [
        (LARGEST, [0.0, 0.0, 0.0], 0.15),
        (LARGEST, [0.09, -0.09, 0.05], 0.15),
        (MEAN_SIZE, [0.0] * 8, 0.35),
        (MEAN_SIZE, [0.3, 0.5, 0.7], 0.35),
        (LEAST, [0.8, 0.8, 0.8, 0.8], 0.1),
        (LEAST, [0.7, 0.9, 0.95], 0.1),
    ],
)
def test_each_end_seldom_misses_the_number_of_the_true_means(number, true, sd, count):
    """Each end misses in at most 2.5 % of cases; 6 misses in 40 happen once in a thousand times."""
    truth = number(np.array([true]))
    found = intervals(number, true, sd, count)
    assert sum(one.low > truth + 1e-12 for one in found) < 6
    assert sum(one.high < truth for one in found) < 6


@pytest.mark.parametrize("count", [3, 5, 30])
def test_of_a_single_mean_it_is_student_s_interval(count):
    sample = stats.norm.ppf((np.arange(count) + 0.5) / count)
    sample = sample / sample.std(ddof=1)
    half = stats.t.ppf(0.975, count - 1) / sqrt(count)
    for number in (Joint(mean, largest), LEAST):
        found = number.estimate(10 + sample[:, np.newaxis])
        assert (found.low, found.value, found.high) == pytest.approx(
            (10 - half, 10, 10 + half), abs=0.25 * half
        )


def test_a_size_is_not_negative_and_its_ends_are_shown_in_order():
    noise = np.random.default_rng(0).normal(size=(5, 3))
    assert LARGEST.estimate(noise).low == 0
    mirrored = Joint(mean, largest, sizes=True, shown=lambda size: 10 - size).estimate(noise)
    assert mirrored.low < mirrored.value < mirrored.high == 10


def test_means_that_no_realization_has_are_left_out():
    measured = np.random.default_rng(0).normal(3, 1, size=(6, 2))
    with_none = np.concatenate([measured, np.full((6, 1), np.nan)], axis=1)
    assert LARGEST.estimate(with_none) == LARGEST.estimate(measured)
    assert np.isnan(LARGEST.estimate(np.full((6, 2), np.nan)).low)
    assert np.isnan(LARGEST.estimate(measured, fewest=1).low)
