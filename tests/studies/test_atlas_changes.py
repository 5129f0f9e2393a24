"""Changes of a setting that move the gap, and whether a measure moves with it."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from flatlas.studies.atlas.changes import changes, right, right_on_average
from flatlas.studies.atlas.nets import along

SEEDS = 5


def some_nets(gaps):
    """Nets of an axis with these gaps (values, realizations)."""
    rows = [
        {"sweep": "batch", "study": "made", "run": f"b{value}", "at": "met+0", "seed": seed}
        | {"batch": 2**value, "gap": gap}
        for value, of_value in enumerate(gaps)
        for seed, gap in enumerate(of_value)
    ]
    return along(pd.DataFrame(rows), "batch")


def steps(some, **how):
    """The changes found: values before and after, and the direction of the gap."""
    found = changes(some, **how)
    columns = ["values_before", "values_after", "direction"]
    return {tuple(map(int, row)) for row in found[columns].to_numpy()}


def test_only_changes_that_move_the_gap_count():
    """From the first value to the second the gap rises, then it moves by chance."""
    chance = np.array([-2.0, -1, 0, 1, 2])
    gaps = np.array([0 * chance, 1 + 0.1 * chance, 1.05 + 0.1 * chance[::-1], 0.2 + 0 * chance])
    assert steps(some_nets(gaps), neighbours=True) == {(0, 1, 1), (2, 3, -1)}
    assert steps(some_nets(gaps), neighbours=False) == {
        *((0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 3, -1), (2, 3, -1)),
    }


@pytest.mark.parametrize("shift", [0.99, 1.01])
def test_a_change_moves_the_gap_if_students_interval_excludes_0(shift):
    chance = np.array([-2.0, -1, 0, 1, 2])
    half = stats.t.ppf(0.975, SEEDS - 1) * chance.std(ddof=1) / np.sqrt(SEEDS)
    found = changes(some_nets([0 * chance, chance + shift * half]), neighbours=True)
    assert len(found) == (SEEDS if shift > 1 else 0)


def test_changes_are_made_within_a_realization():
    found = changes(some_nets(np.arange(3)[:, np.newaxis] + np.zeros(SEEDS)), neighbours=True)
    seeds = np.tile(np.arange(SEEDS), 3)
    assert (seeds[found["net_before"]] == seeds[found["net_after"]]).all()
    assert len(found) == 2 * SEEDS


def test_two_realizations_show_no_change():
    assert not len(changes(some_nets([[0, 0], [1, 1]]), neighbours=True))


def pairs_of(*environments):
    """Pairs of nets 2n and 2n + 1, one for each realization and environment; the gap rises."""
    rows = [(e, r) for r in range(SEEDS) for e in environments]
    pairs = pd.DataFrame(rows, columns=["environment", "realizations"])
    before = 2 * np.arange(len(rows))
    return pairs.assign(net_before=before, net_after=before + 1, direction=1.0)


def test_a_measure_is_right_if_it_moves_with_the_gap_and_half_right_if_it_does_not_move():
    pairs = pairs_of("a", "b")
    moves = pd.Series(0.0, range(20))
    rises = pairs.loc[pairs["environment"] == "a", "net_after"]
    moves[rises] = [1, 1, 1, 0, -1]
    found = right(pairs, moves)
    assert {name: one.value for name, one in found.items()} == {"a": 0.7, "b": 0.5}
    assert right_on_average(pairs, moves).value == pytest.approx(0.6)
    assert found["b"].low == found["b"].high == 0.5
    assert found["a"].high == 1


def test_pairs_without_a_value_do_not_count():
    pairs = pairs_of("a")
    moves = pd.Series([0, 1] * SEEDS, dtype=float)
    moves[[0, 3]] = np.nan, np.inf
    found = right(pairs, moves)["a"]
    assert (found.value, found.low, found.high) == (1, 1, 1)
    nothing = right_on_average(pairs, moves * np.nan)
    assert np.isnan([nothing.value, nothing.low]).all()
    assert not right(pairs, moves * np.nan)
