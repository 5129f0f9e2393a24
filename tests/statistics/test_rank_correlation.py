"""τ within strata and given others: against SciPy, Kendall's own formula, and plain counting."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from flatlas.statistics.correlation import kendall
from flatlas.statistics.estimate import estimate
from flatlas.statistics.rank_correlation import Points

N = 40
ONE = np.zeros(N, int)
EACH = np.arange(N)


def drawn(seed=0, count=5, ties=False):
    values = np.random.default_rng(seed).normal(size=(count, N))
    values[1:] += 0.7 * values[0]
    return values.round(0 if ties else 9)


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
    found = Points(ONE, EACH).tau(x, y)
    assert found.value == pytest.approx(stats.kendalltau(x, y).statistic, rel=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_only_pairs_of_one_stratum_are_compared(ties):
    x, y, *_ = drawn(ties=ties)
    strata = EACH % 3
    # What is added to a whole stratum orders no pair of it.
    found = Points(strata, EACH).tau(x + 100 * strata, y - 100 * strata)
    assert found.value == pytest.approx(counted(x, y, strata), rel=1e-12)


def test_the_granulated_coefficient_is_the_mean_of_tau_over_settings():
    x, y, *_ = drawn()
    settings = EACH // 5
    means = np.mean([stats.kendalltau(x[settings == s], y[settings == s])[0] for s in range(8)])
    assert Points(settings, EACH).tau(x, y).value == pytest.approx(means, rel=1e-12)


def test_given_one_it_is_kendalls_partial_coefficient():
    x, y, z, *_ = drawn()
    xy, xz, yz = (stats.kendalltau(*pair).statistic for pair in ((x, y), (x, z), (y, z)))
    expected = (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))
    assert Points(ONE, EACH).tau(x, y, [z]).value == pytest.approx(expected, rel=1e-12)


def test_given_several_it_is_the_correlation_of_what_least_squares_leaves():
    x, y, *given = drawn()
    signs = [
        np.array([np.sign(one[i] - one[j]) for i, j in combinations(range(N), 2)])
        for one in (x, y, *given)
    ]
    design = np.stack(signs[2:], axis=1)
    a, b = (one - design @ np.linalg.lstsq(design, one, rcond=None)[0] for one in signs[:2])
    expected = a @ b / np.sqrt((a @ a) * (b @ b))
    found = Points(ONE, EACH).tau(x, y, given)
    assert found.value == pytest.approx(expected, rel=1e-10)


def test_a_constant_or_a_copy_among_the_given_changes_nothing():
    x, y, z, *_ = drawn()
    alone = Points(ONE, EACH).tau(x, y, [z])
    more = Points(ONE, EACH).tau(x, y, [z, 2 * z + 1, np.ones(N)])
    assert (more.value, more.low, more.high) == pytest.approx((alone.value, alone.low, alone.high))


def test_nothing_is_left_of_what_is_given():
    x, y, *_ = drawn()
    assert np.isnan(Points(ONE, EACH).tau(x, y, [3 * x]).value)
    assert np.isnan(Points(ONE, EACH).tau(np.ones(N), y).value)


def test_clusters_are_drawn_whole_and_may_come_twice():
    """Against resamples that are written out, copies of a point being tied with each other."""
    x, y, *_ = drawn(ties=True)
    clusters = EACH // 4

    def written_out(chosen):
        points = (4 * chosen[:, np.newaxis] + np.arange(4)[:, np.newaxis]).reshape(N, -1)
        return kendall(x[points].T, y[points].T).squeeze()

    expected = estimate(lambda chosen: written_out(chosen.reshape(10, -1)), np.arange(10))
    found = Points(ONE, clusters).tau(x, y)
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high), rel=1e-10
    )


def test_points_of_which_something_is_unknown_are_left_out():
    x, y, z, *_ = drawn()
    x[:3], y[5], z[9] = np.nan, np.inf, np.nan
    known = np.isfinite([x, y, z]).all(0)
    found = Points(ONE, EACH).tau(x, y, [z])
    alone = Points(ONE[known], EACH[known]).tau(x[known], y[known], [z[known]])
    assert found == alone
    assert np.isnan(Points(ONE, EACH).tau(np.full(N, np.nan), y).value)


@pytest.mark.parametrize("clusters", [2, 3])
def test_few_clusters_have_no_interval(clusters):
    """Three stand in one order, up or down, by chance in one case of three."""
    x, y, *_ = drawn()
    found = Points(ONE, EACH % clusters).tau(x, y)
    assert found.value == pytest.approx(stats.kendalltau(x, y).statistic, rel=1e-12)
    assert np.isnan([found.low, found.high]).all()
