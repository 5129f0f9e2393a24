"""τ within strata and given other variables: against SciPy, least squares and counting."""

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


def drawn(ties=False):
    """Five correlated variables."""
    values = np.random.default_rng(0).normal(size=(5, N))
    values[1:] += 0.7 * values[0]
    return values.round(0 if ties else 9)


def tau_of(x, y, given=(), strata=ONE, clusters=EACH):
    columns = dict(enumerate((x, y, *given)))
    return tau(pd.DataFrame(columns), 0, 1, strata, clusters, [*columns][2:])


def counted(variables, strata):
    """The signs of all pairs within a stratum, one by one, for each variable."""
    pairs = [pair for pair in combinations(range(N), 2) if np.ptp(strata[[*pair]]) == 0]
    return [np.array([np.sign(one[i] - one[j]) for i, j in pairs]) for one in variables]


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


@pytest.mark.parametrize("ties", [False, True])
def test_only_pairs_of_one_stratum_are_compared(ties):
    """A number added to a whole stratum changes the order of none of its pairs."""
    x, y, *_ = drawn(ties)
    strata = EACH % 3
    found = tau_of(x + 100 * strata, y - 100 * strata, strata=strata)
    assert found.value == pytest.approx(cosine(*counted((x, y), strata)), rel=1e-12)


def test_given_several_variables_tau_correlates_the_least_squares_residuals():
    x, y, *given = drawn()
    *signs, design = *counted((x, y), ONE), np.stack(counted(given, ONE), axis=1)
    a, b = (one - design @ np.linalg.lstsq(design, one, rcond=None)[0] for one in signs)
    assert tau_of(x, y, given).value == pytest.approx(cosine(a, b), rel=1e-10)


def test_a_constant_or_a_copy_among_the_given_variables_changes_nothing():
    x, y, z, *_ = drawn()
    alone = tau_of(x, y, [z])
    more = tau_of(x, y, [z, 2 * z + 1, np.ones(N)])
    assert (more.value, more.low, more.high) == pytest.approx((alone.value, alone.low, alone.high))


def test_a_constant_or_given_variable_has_no_tau():
    x, y, *_ = drawn()
    assert np.isnan(tau_of(x, y, [3 * x]).value)
    assert np.isnan(tau_of(np.ones(N), y).value)


def test_clusters_are_drawn_whole_and_copies_are_not_compared():
    """Against explicit resamples, in which each copy of a cluster is a separate one."""
    x, y, *_ = drawn(ties=True)
    clusters = EACH // 4

    def explicit(chosen):
        points = (4 * chosen[:, np.newaxis] + np.arange(4)).ravel()
        copy, origin = np.repeat(np.arange(len(chosen)), 4), clusters[points]
        compared = (copy[:, np.newaxis] == copy) | (origin[:, np.newaxis] != origin)
        return cosine(
            *(np.sign(one[points][:, np.newaxis] - one[points])[compared] for one in (x, y))
        )

    expected = estimate(lambda chosen: np.apply_along_axis(explicit, 0, chosen), np.arange(10))
    found = tau_of(x, y, clusters=clusters)
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high), rel=1e-10
    )


def test_a_value_lies_in_its_interval():
    """The points of a cluster are alike, as realizations of one run are."""
    for seed in range(20):
        chance = np.random.default_rng(seed)
        runs = np.repeat(np.arange(12), 3)
        x, y = (chance.normal(size=12)[runs] + 0.3 * chance.normal(size=36) for _ in "xy")
        found = tau_of(x, y + x, strata=np.zeros(36), clusters=runs)
        assert found.low < found.value < found.high


def test_points_with_an_unknown_value_are_left_out():
    x, y, z, *_ = drawn()
    x[:3], y[5], z[9] = np.nan, np.inf, np.nan
    known = np.isfinite([x, y, z]).all(0)
    alone = tau_of(x[known], y[known], [z[known]], ONE[known], EACH[known])
    assert tau_of(x, y, [z]) == alone
    assert np.isnan(tau_of(np.full(N, np.nan), y).value)


@pytest.mark.parametrize("clusters", [2, 3, FEWEST])
def test_few_clusters_have_no_interval(clusters):
    """Four have one order, up or down, by chance in one case of twelve."""
    x, y, *_ = drawn()
    found = tau_of(x, y, clusters=EACH % clusters)
    assert found.value == pytest.approx(stats.kendalltau(x, y).statistic, rel=1e-12)
    assert np.isnan([found.low, found.high]).all()


@pytest.mark.parametrize(
    ("strata", "enough"),
    [
        ([0, 0, 1, 1, 2, 2], False),  # three comparisons
        ([0, 0, 0, 1, 1, 1], True),  # two in each, which makes four
        ([0, 0, 0, 0, 1, 2], False),  # two are compared with nothing
        ([0, 0, 0, 0, 0, 1], True),
    ],
)
def test_an_interval_needs_enough_comparisons_of_clusters(strata, enough):
    steps = np.arange(6.0)
    found = tau_of(steps, steps, strata=np.array(strata), clusters=np.arange(6))
    assert found.value == 1
    assert np.isfinite(found.low) == enough


@pytest.mark.parametrize(
    ("clusters", "value", "interval"),
    [(4, False, False), (5, True, False), (FEWEST + 3, True, False), (FEWEST + 4, True, True)],
)
def test_each_given_variable_takes_one_comparison_of_clusters(clusters, value, interval):
    x, y, *given = drawn()
    found = tau_of(x, y, given, clusters=EACH % clusters)
    assert np.isfinite([found.value, found.low]).tolist() == [value, interval]


def test_intervals_of_independent_variables_seldom_leave_out_zero():
    """Five runs and more, with three realizations each: at most 8 in 100 intervals."""
    beyond = []
    for seed in range(200):
        chance = np.random.default_rng(seed)
        runs = np.repeat(np.arange(5 + seed % 4), 3)
        x, y = (chance.normal(size=runs.max() + 1)[runs] for _ in "xy")
        x, y = (one + 0.3 * chance.normal(size=len(runs)) for one in (x, y))
        found = tau_of(x, y, strata=np.arange(len(runs)) % 3, clusters=runs)
        beyond.append(found.low > 0 or found.high < 0)
    assert np.mean(beyond) <= 0.08
