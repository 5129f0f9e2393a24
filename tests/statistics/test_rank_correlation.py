"""τ within strata and given other variables: against SciPy, least squares and counting."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from flatlas.statistics.rank_correlation import FEWEST, tau

N = 40
ONE = np.zeros(N, int)
# Four realizations of ten points.
FOUR = np.arange(N) % 4


def drawn(ties=False):
    """Five correlated variables."""
    values = np.random.default_rng(0).normal(size=(5, N))
    values[1:] += 0.7 * values[0]
    return values.round(0 if ties else 9)


def tau_of(x, y, given=(), strata=FOUR, realizations=FOUR):
    columns = dict(enumerate((x, y, *given)))
    return tau(pd.DataFrame(columns), 0, 1, strata, realizations, [*columns][2:])


def counted(variables, strata):
    """The signs of all pairs within a stratum, one by one, for each variable."""
    pairs = [pair for pair in combinations(range(N), 2) if np.ptp(strata[[*pair]]) == 0]
    return [np.array([np.sign(one[i] - one[j]) for i, j in pairs]) for one in variables]


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


@pytest.mark.parametrize("ties", [False, True])
def test_of_one_stratum_it_is_kendalls(ties):
    x, y, *_ = drawn(ties)
    found = tau_of(x, y, strata=ONE, realizations=ONE).value
    assert found == pytest.approx(stats.kendalltau(x, y).statistic, rel=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_only_pairs_of_one_stratum_are_compared(ties):
    """A number added to a whole stratum changes the order of none of its pairs."""
    x, y, *_ = drawn(ties)
    strata = np.arange(N) % 8
    found = tau_of(x + 100 * strata, y - 100 * strata, strata=strata)
    assert found.value == pytest.approx(cosine(*counted((x, y), strata)), rel=1e-12)


def test_given_several_variables_tau_correlates_the_least_squares_residuals():
    x, y, *given = drawn()
    *signs, design = *counted((x, y), FOUR), np.stack(counted(given, FOUR), axis=1)
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


def test_the_interval_is_students_of_the_taus_that_leave_out_a_realization():
    x, y, *_ = drawn(ties=True)
    without = [cosine(*counted((x, y), np.where(one == FOUR, 100 + np.arange(N), FOUR)))
               for one in range(4)]  # fmt: skip
    error = np.sqrt(3 * np.var(without))
    half = stats.t.ppf(0.975, 3) * error
    found = tau_of(x, y)
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))


def test_an_interval_ends_at_one():
    found = tau_of(np.arange(N), np.arange(N) + np.where(FOUR == 0, drawn()[0] * 20, 0))
    assert found.value < found.high == 1


def test_points_with_an_unknown_value_are_left_out():
    x, y, z, *_ = drawn()
    x[:3], y[5], z[9] = np.nan, np.inf, np.nan
    known = np.isfinite([x, y, z]).all(0)
    alone = tau_of(x[known], y[known], [z[known]], FOUR[known], FOUR[known])
    assert tau_of(x, y, [z]) == alone
    assert np.isnan(tau_of(np.full(N, np.nan), y).value)


def test_a_realization_without_pairs_does_not_count():
    x, y, *_ = drawn()
    more = np.append(FOUR, 4)
    found = tau_of(np.append(x, 1.0), np.append(y, 1.0), strata=more, realizations=more)
    assert found == tau_of(x, y)


@pytest.mark.parametrize("realizations", [1, 2])
def test_few_realizations_have_no_interval(realizations):
    x, y, *_ = drawn()
    labels = np.arange(N) % realizations
    found = tau_of(x, y, strata=labels, realizations=labels)
    assert np.isfinite(found.value)
    assert np.isnan([found.low, found.high]).all()


@pytest.mark.parametrize("points", [FEWEST, FEWEST + 1])
def test_few_points_in_each_realization_have_no_interval(points):
    """Three points have one order, up or down, by chance in one case of three."""
    x, y, *_ = drawn()
    some = np.arange(N) // 4 < points
    found = tau_of(x[some], y[some], strata=FOUR[some], realizations=FOUR[some])
    assert np.isfinite(found.low) == (points > FEWEST)


@pytest.mark.parametrize(
    ("points", "value", "interval"), [(4, False, False), (5, True, False), (7, True, True)]
)
def test_each_given_variable_takes_one_comparison(points, value, interval):
    x, y, *given = drawn()
    some = np.arange(N) // 4 < points
    found = tau_of(*(one[some] for one in (x, y)), [z[some] for z in given], FOUR[some], FOUR[some])
    assert np.isfinite([found.value, found.low]).tolist() == [value, interval]
