"""τ within strata and given others: against SciPy, Kendall's own formula, and plain counting."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from flatlas.statistics.estimate import estimate
from flatlas.statistics.rank_correlation import FEWEST, tau

N = 40
ONE = np.zeros(N, int)
EACH = np.arange(N)


def drawn(seed=0, count=5, ties=False):
    values = np.random.default_rng(seed).normal(size=(count, N))
    values[1:] += 0.7 * values[0]
    return values.round(0 if ties else 9)


def tau_of(x, y, given=(), strata=ONE, clusters=EACH):
    columns = dict(enumerate((x, y, *given)))
    return tau(pd.DataFrame(columns), 0, 1, strata, clusters, [*columns][2:])


def counted(x, y, strata):
    """Every pair of a stratum looked at, one by one."""
    signs = [
        (np.sign(x[i] - x[j]), np.sign(y[i] - y[j]))
        for i, j in combinations(range(len(x)), 2)
        if strata[i] == strata[j]
    ]
    a, b = np.array(signs).T
    return (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())


@pytest.mark.parametrize("ties", [False, True])
def test_of_one_stratum_it_is_kendalls(ties):
    x, y, *_ = drawn(ties=ties)
    found = tau_of(x, y)
    assert found.value == pytest.approx(stats.kendalltau(x, y).statistic, rel=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_only_pairs_of_one_stratum_are_compared(ties):
    x, y, *_ = drawn(ties=ties)
    strata = EACH % 3
    # What is added to a whole stratum orders no pair of it.
    found = tau_of(x + 100 * strata, y - 100 * strata, strata=strata)
    assert found.value == pytest.approx(counted(x, y, strata), rel=1e-12)


def test_the_granulated_coefficient_is_the_mean_of_tau_over_settings():
    x, y, *_ = drawn()
    settings = EACH // 5
    means = np.mean([stats.kendalltau(x[settings == s], y[settings == s])[0] for s in range(8)])
    assert tau_of(x, y, strata=settings).value == pytest.approx(means, rel=1e-12)


def test_given_one_it_is_kendalls_partial_coefficient():
    x, y, z, *_ = drawn()
    xy, xz, yz = (stats.kendalltau(*pair).statistic for pair in ((x, y), (x, z), (y, z)))
    expected = (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))
    assert tau_of(x, y, [z]).value == pytest.approx(expected, rel=1e-12)


def test_given_several_it_is_the_correlation_of_what_least_squares_leaves():
    x, y, *given = drawn()
    signs = [
        np.array([np.sign(one[i] - one[j]) for i, j in combinations(range(N), 2)])
        for one in (x, y, *given)
    ]
    design = np.stack(signs[2:], axis=1)
    a, b = (one - design @ np.linalg.lstsq(design, one, rcond=None)[0] for one in signs[:2])
    expected = a @ b / np.sqrt((a @ a) * (b @ b))
    found = tau_of(x, y, given)
    assert found.value == pytest.approx(expected, rel=1e-10)


def test_a_constant_or_a_copy_among_the_given_changes_nothing():
    x, y, z, *_ = drawn()
    alone = tau_of(x, y, [z])
    more = tau_of(x, y, [z, 2 * z + 1, np.ones(N)])
    assert (more.value, more.low, more.high) == pytest.approx((alone.value, alone.low, alone.high))


def test_nothing_is_left_of_what_is_given():
    x, y, *_ = drawn()
    assert np.isnan(tau_of(x, y, [3 * x]).value)
    assert np.isnan(tau_of(np.ones(N), y).value)


def test_clusters_are_drawn_whole_and_copies_are_not_compared():
    """Against resamples that are written out, each copy a cluster of its own."""
    x, y, *_ = drawn(ties=True)
    clusters = EACH // 4

    def written_out(chosen):
        points = (4 * chosen[:, np.newaxis] + np.arange(4)).ravel()
        copy = np.repeat(np.arange(len(chosen)), 4)
        origin = clusters[points]
        told = (copy[:, np.newaxis] == copy) | (origin[:, np.newaxis] != origin)
        a, b = (np.sign(one[points][:, np.newaxis] - one[points])[told] for one in (x, y))
        return a @ b / np.sqrt((a @ a) * (b @ b))

    def all_written_out(chosen):
        return np.apply_along_axis(written_out, 0, chosen)

    expected = estimate(all_written_out, np.arange(10))
    found = tau_of(x, y, clusters=clusters)
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high), rel=1e-10
    )


def test_a_value_lies_in_its_interval():
    """Where the points of a cluster are alike, as realizations of one run are."""
    for seed in range(20):
        chance = np.random.default_rng(seed)
        runs = np.repeat(np.arange(12), 3)
        x, y = (chance.normal(size=12)[runs] + 0.3 * chance.normal(size=36) for _ in "xy")
        found = tau_of(x, y + x, strata=np.zeros(36), clusters=runs)
        assert found.low < found.value < found.high


def test_points_of_which_something_is_unknown_are_left_out():
    x, y, z, *_ = drawn()
    x[:3], y[5], z[9] = np.nan, np.inf, np.nan
    known = np.isfinite([x, y, z]).all(0)
    found = tau_of(x, y, [z])
    alone = tau_of(x[known], y[known], [z[known]], ONE[known], EACH[known])
    assert found == alone
    assert np.isnan(tau_of(np.full(N, np.nan), y).value)


@pytest.mark.parametrize("clusters", [2, 3, FEWEST])
def test_few_clusters_have_no_interval(clusters):
    """Four stand in one order, up or down, by chance in one case of twelve."""
    x, y, *_ = drawn()
    found = tau_of(x, y, clusters=EACH % clusters)
    assert found.value == pytest.approx(stats.kendalltau(x, y).statistic, rel=1e-12)
    assert np.isnan([found.low, found.high]).all()
    assert np.isfinite(tau_of(x, y, clusters=EACH % (FEWEST + 1)).low)


@pytest.mark.parametrize(
    ("strata", "counts"),
    [
        ([0, 0, 1, 1, 2, 2], False),  # three comparisons
        ([0, 0, 0, 1, 1, 1], True),  # two in each, which makes four
        ([0, 0, 0, 0, 1, 2], False),  # two are compared with nothing
        ([0, 0, 0, 0, 0, 1], True),
    ],
)
def test_clusters_count_as_far_as_they_are_compared(strata, counts):
    steps = np.arange(6.0)
    found = tau_of(steps, steps, strata=np.array(strata), clusters=np.arange(6))
    assert found.value == 1
    assert np.isfinite(found.low) == counts


def test_nothing_is_left_of_as_many_comparisons_as_are_given():
    x, y, *given = drawn()
    assert np.isnan(tau_of(x, y, given, clusters=EACH % 4).value)
    assert np.isfinite(tau_of(x, y, given, clusters=EACH % 5).value)


def test_each_that_is_given_takes_a_comparison():
    x, y, *given = drawn()
    for clusters, known in ((FEWEST + 3, False), (FEWEST + 4, True)):
        found = tau_of(x, y, given, clusters=EACH % clusters)
        assert np.isfinite(found.low) == known


def test_what_is_by_chance_is_seldom_beyond_it():
    """Of five runs and more, in three realizations each: at most 8 in 100 intervals leave out 0."""
    beyond = []
    for seed in range(200):
        chance = np.random.default_rng(seed)
        runs = np.repeat(np.arange(5 + seed % 4), 3)
        x, y = (chance.normal(size=runs.max() + 1)[runs] for _ in "xy")
        x, y = (one + 0.3 * chance.normal(size=len(runs)) for one in (x, y))
        found = tau_of(x, y, strata=np.arange(len(runs)) % 3, clusters=runs)
        beyond.append(found.low > 0 or found.high < 0)
    assert np.mean(beyond) <= 0.08
