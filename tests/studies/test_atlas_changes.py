"""Changes of a setting, and how far a measure moves with the gap."""

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


def test_changes_are_to_the_next_value_or_to_any_later_one():
    gaps = np.array([[0.1, 0.2], [0.4, 0.1], [0.5, 0.5]])
    some = some_nets(gaps)
    for neighbours, expected in ((True, {(0, 1), (1, 2)}), (False, {(0, 1), (0, 2), (1, 2)})):
        found = changes(some, neighbours)
        assert {*zip(found["values_before"], found["values_after"], strict=True)} == expected
        assert len(found) == 2 * len(expected)
        steps = gaps.ravel()[found["net_after"]] - gaps.ravel()[found["net_before"]]
        assert found["moved"].to_numpy() == pytest.approx(steps)


def test_changes_are_made_within_a_realization():
    found = changes(some_nets(np.arange(3)[:, np.newaxis] + np.zeros(SEEDS)), neighbours=True)
    seeds = np.tile(np.arange(SEEDS), 3)
    assert (seeds[found["net_before"]] == seeds[found["net_after"]]).all()
    assert len(found) == 2 * SEEDS


def test_pairs_of_several_axes_have_the_same_names_for_realizations():
    """The labels of an axis count from the first net that it has."""
    some = some_nets(np.zeros((2, 2)))
    for axis in (some, along(some.nets[::-1], "batch")):
        found = changes(axis, neighbours=False)
        seeds = some.nets["seed"][found["net_before"]].astype(str).to_numpy()
        assert (found["realizations"].str.split().str[-1].to_numpy() == seeds).all()


def pairs_of(seeds=SEEDS, **environments):
    """Pairs of nets 2n and 2n + 1 for each realization of each change, by its mean of the gap."""
    changed = [(name, move) for name, moves in environments.items() for move in moves]
    rows = [
        {"environment": name, "contexts": place, "values_before": 0, "values_after": 1}
        | {"realizations": seed, "moved": move * (1 + (seed - (seeds - 1) / 2) / 10)}
        for seed in range(seeds)
        for place, (name, move) in enumerate(changed)
    ]
    before = 2 * np.arange(len(rows))
    return pd.DataFrame(rows).assign(net_before=before, net_after=before + 1)


def moving(signs):
    """A quantity that rises, falls or stays from each net 2n to 2n + 1."""
    return pd.Series(np.stack([np.zeros(len(signs)), signs], axis=1).ravel())


def test_a_measure_is_right_if_it_moves_with_the_gap_and_half_right_if_it_does_not_move():
    pairs = pairs_of(a=[1.0], b=[-1.0])
    signs = np.zeros(2 * SEEDS)
    signs[::2] = [1, 1, 1, 0, -1]
    found = right(pairs, moving(signs))
    assert {name: one.value for name, one in found.items()} == pytest.approx({"a": 0.7, "b": 0.5})
    assert right_on_average(pairs, moving(signs)).value == pytest.approx(0.6)
    assert (found["b"].low, found["b"].high) == (0.5, 0.5)
    assert found["a"].high == 1


def test_each_change_counts_as_much_as_it_moves_the_gap():
    pairs = pairs_of(a=[3.0, -1.0])
    assert right(pairs, moving(np.tile([1, 1], SEEDS)))["a"].value == pytest.approx(3 / 4)
    assert right(pairs, moving(np.tile([-1, -1], SEEDS)))["a"].value == pytest.approx(1 / 4)


def test_the_interval_is_students_of_each_realizations_share_where_one_change_is_all():
    """The direction is that of all realizations, so that the share is a mean over them."""
    signs = np.array([1, 1, 1, -1, 0])
    found = right(pairs_of(a=[1.0]), moving(signs))["a"]
    shares = (1 + signs) / 2
    low, _ = stats.t.interval(0.95, SEEDS - 1, shares.mean(), stats.sem(shares))
    assert found.low == pytest.approx(max(low, 0))


def test_two_realizations_have_no_interval():
    found = right(pairs_of(2, a=[1.0]), moving([1, 1]))["a"]
    assert found.value == 1
    assert np.isnan([found.low, found.high]).all()


def test_pairs_without_a_value_do_not_count():
    pairs = pairs_of(a=[1.0])
    moves = moving(np.ones(SEEDS))
    moves[[0, 3]] = np.nan, np.inf
    found = right(pairs, moves)["a"]
    assert (found.value, found.low, found.high) == (1, 1, 1)
    nothing = right_on_average(pairs, moves * np.nan)
    assert np.isnan([nothing.value, nothing.low]).all()
    assert not right(pairs, moves * np.nan)


def test_an_environment_whose_gap_never_moves_has_no_share():
    pairs = pairs_of(a=[0.0], b=[1.0])
    rising = moving(np.ones(2 * SEEDS))
    assert np.isnan(right(pairs, rising)["a"].value)
    assert right_on_average(pairs, rising).value == 1
