"""Figures along the directions (S3, S5, S6, S8, S10, S11, S13), checked with a pencil."""

from math import exp, log, nan, sqrt

import numpy as np
import pandas as pd
import pytest
from pencil import drawn_dots, material, note_of, rows_where

from flatlas.plotting.style import BLACK, GREEN
from flatlas.studies.duality import s5, s6, s8, s10, s11, s13
from flatlas.studies.duality.spectra import binned, picked, spectrum

BETA, S, UNTIL = "penalty.coefficient", "net.init.scale", "penalty.until_epoch"
LR, B = "optimizer.lr", "batch"


def test_bins_are_ten_a_decade_at_geometric_means():
    """The ranks 1 to 3 have bins of their own; 80 to 99 share one."""
    ranks = np.arange(1, 101)
    table = pd.DataFrame({"seed": 0, "converged": True, "n": ranks, "c": ranks * 2.0})
    bins = binned(table, [], ["c"])
    assert bins["c"].iloc[:3].tolist() == [2, 4, 6]
    last = bins.iloc[-2]
    members = ranks[(ranks >= 10**1.9) & (ranks < 100)]
    assert last["c"] == pytest.approx(2 * members.mean())
    assert last["n"] == pytest.approx(exp(np.log(members).mean()), rel=1e-6)
    assert bins["c"].iloc[-1] == 200


def test_ranks_are_picked_ten_a_decade_the_same_in_each_net():
    table = pd.DataFrame({"n": [*range(1, 101)] * 2})
    chosen = picked(table)["n"].tolist()
    assert chosen[:10] == [1, 2, 3, 4, 5, 6, 8, 10, 13, 16]
    assert chosen[: len(chosen) // 2] == chosen[len(chosen) // 2 :]
    assert 100 in chosen


def test_the_correlation_is_averaged_over_bins_then_over_realizations():
    """The ranks 6 and 7 have bins of their own; 16 and 17 share one."""
    rows = [
        {"seed": seed, "converged": True, "key": 1.0, "n": n, "correlation": c + seed / 2}
        for seed in (0, 1)
        for n, c in ((1, 0.5), (16, 0.25), (17, 0.75))
    ]
    points = spectrum(pd.DataFrame(rows), "key", "correlation")
    np.testing.assert_allclose(points["n"], [1, sqrt(16 * 17)], rtol=1e-6)
    np.testing.assert_allclose(points["mean"], [0.75, 0.75])
    np.testing.assert_allclose(points["sd"], [sqrt(0.125)] * 2)


def test_s5_has_a_dot_for_each_direction_and_the_total_over_scales():
    directions = [
        {"run": "a", "seed": 0, "scale": s, "n": n, "eigenvalue": h, "sigma_g": s * g}
        for s in (0.5, 1.0)
        for n, h, g in ((1, 4.0, 2.0), (2, 1.0, 1.0), (3, -1.0, 1.0))
    ]
    totals = [
        {"run": "a", "seed": seed, "scale": s, "T_g": s * (1 + seed)}
        for s in (0.5, 1.0)
        for seed in (0, 1)
    ]
    found = material([("base", "a", {})], scaled_directions=directions, scaled_summary=totals)
    drawing = s5.draw(found)
    large, total = drawing.figure.axes
    assert drawn_dots(large).keys() == {(4, 1), (1, 0.25), (4, 4), (1, 1)}
    assert rows_where(drawing.points, panel="A")["sigma_g_squared"].tolist() == [1, 0.25, 4, 1]
    assert rows_where(drawing.points, panel="B")["mean"].tolist() == [0.75, 1.5]
    assert drawn_dots(total).keys() == {(0.5, 0.75), (1, 1.5)}


def test_the_legend_of_s5_covers_no_dot():
    """There are dots in all four corners of the panel."""
    directions = [
        {"run": "a", "seed": 0, "scale": s, "n": n, "eigenvalue": 100.0 ** (2 - n), "sigma_g": s}
        for s in (0.1, 0.2, 0.5, 1.0)
        for n in (1, 2)
    ]
    totals = [{"run": "a", "seed": 0, "scale": 1.0, "T_g": 1.0}]
    found = material([("base", "a", {})], scaled_directions=directions, scaled_summary=totals)
    figure = s5.draw(found).figure
    figure.draw_without_rendering()
    ax = figure.axes[0]
    covered = ax.get_legend().get_window_extent()
    assert not any(covered.contains(*ax.transData.transform(dot)) for dot in drawn_dots(ax))


def test_s6_shows_flatness_and_counts_where_there_is_none():
    rows = [
        {"run": "a", "seed": seed, "n": n, "sigma_g": g, "flatness": f, "converged": f == f}
        for seed in (0, 1)
        for n, g, f in ((1, 2.0, 0.5), (2, 1.0, 3.0), (3, 0.5, nan), (4, 0.0, nan))
    ]
    found = material([("base", "a", {})], {("a", 1)}, flatness_directions=rows)
    drawing = s6.draw(found)
    (ax,) = drawing.figure.axes
    assert drawing.points["flatness"].tolist() == [0.5, 3, 0.5, 3]
    assert drawing.points["converged"].tolist() == [True, True, False, False], "the trainings"
    assert drawn_dots(ax).keys() == {(4, 0.5), (1, 3)}
    assert "Along 2 of 6 the loss" in note_of(drawing)


@pytest.fixture
def steps():
    """Run `a` is part of two sweeps; the spectra go beyond what is shown."""
    points = [
        ("alpha", "a", {LR: 0.1}),
        ("alpha", "b", {LR: 0.2}),
        ("init", "a", {S: 1.0}),
    ]
    directions = [
        {"run": run, "seed": seed, "n": n, "sigma_g": g * 4.0**seed}
        for run in "ab"
        for seed in (0, 1)
        for n, g in ((1, 4.0), (2, 1.0), (31, 0.5))
    ]
    splits = {("a", 0): 9, ("a", 1): 11, ("b", 0): 8, ("b", 1): 8}
    summary = [{"run": run, "seed": seed, "n_sharp": n} for (run, seed), n in splits.items()]
    return material(points, {("b", 0)}, hidden_directions=directions, hidden_summary=summary)


def test_s8_shows_geometric_means_of_each_run_once(steps):
    drawing = s8.draw(steps)
    points = rows_where(drawing.points, panel="A")
    assert points["run"].tolist() == ["a", "a", "b", "b"]
    np.testing.assert_allclose(points["sigma_g"], [8, 2, 8, 2])
    np.testing.assert_allclose(points["sd"], log(4) / sqrt(2))
    lines = [line for line in drawing.figure.axes[0].lines if len(line.get_xdata()) == 2]
    shown = [line for line in lines if list(line.get_xdata()) == [1, 2]]
    assert [line.get_linestyle() for line in shown] == ["-", "--"]
    for line in shown:
        np.testing.assert_allclose(line.get_ydata(), [8, 2])


def test_s8_names_each_run_with_its_n_s(steps):
    drawing = s8.draw(steps)
    points = rows_where(drawing.points, panel="B")
    assert points["name"].tolist() == ["defaults", r"$\alpha$ = 0.2"]
    assert points["mean"].tolist() == [10, 8]
    ax = drawing.figure.axes[1]
    assert [label.get_text() for label in ax.get_yticklabels()] == points["name"].tolist()
    assert drawn_dots(ax) == {(10, 0): True, (8, -1): False}


def test_s8_names_several_runs_at_the_defaults_by_their_sweeps():
    """Their numbers of realizations differ, so they are two runs."""
    points = [
        *(("alpha", "a", {LR: 0.1}), ("init", "a", {S: 1.0})),
        *(("batch", "b", {B: 5}), ("mine", "b", {})),
    ]
    summary = [{"run": run, "seed": 0, "n_sharp": n} for run, n in (("a", 10), ("b", 8))]
    spectra = [{"run": run, "seed": 0, "n": 1, "sigma_g": 1.0} for run in "ab"]
    drawing = s8.draw(material(points, hidden_directions=spectra, hidden_summary=summary))
    names = rows_where(drawing.points, panel="B").set_index("run")["name"]
    assert names.to_dict() == {"a": r"defaults ($\alpha$, $s$)", "b": "defaults (mine, $B$)"}


def test_s10_has_each_pair_at_its_ratio():
    """Two of the three pairs have the same ratio up to round-off."""
    pairs = {"a": (0.3, 100), "b": (0.6, 200), "c": (0.6, 100)}
    points = [("alpha_batch", run, {LR: lr, B: b}) for run, (lr, b) in pairs.items()]
    directions = [
        {"run": run, "seed": 0, "n": n, "sigma_g": 1.0 / n, "S_w": float(n)}
        for run in pairs
        for n in (1, 2)
    ]
    gaps = {"a": 3.0, "b": 4.0, "c": 2.0}
    summary = [
        {"run": run, "seed": 0, "dual_gap": gap, "gap_sharp": 1.0, "gap_flat": gap - 1}
        for run, gap in gaps.items()
    ]
    found = material(points, {("c", 0)}, hidden_directions=directions, hidden_summary=summary)
    drawing = s10.draw(found)
    totals = rows_where(drawing.points, panel="C", quantity="dual_gap")
    assert totals["ratio"].tolist() == [0.003, 0.003, 0.006]
    ax = drawing.figure.axes[2]
    assert drawn_dots(ax, colour=BLACK) == {(0.003, 3.0): True, (0.006, 2.0): False}
    assert drawn_dots(ax, "s", colour=BLACK) == {(0.003, 4.0): True}
    left, right = ax.get_xlim()
    numbered = [tick for tick in ax.get_xticks() if left < tick < right]
    assert min(numbered) <= 0.003, "a number on either side of all dots"
    assert max(numbered) >= 0.006
    colours = {line.get_color() for line in drawing.figure.axes[0].lines}
    assert len(colours) == 2, "one a ratio"


def shrinking(values, key, sweep):
    """At the value v, σ_w is v + 1 in the first direction and 2 (v + 1) in the second."""
    points = [(sweep, f"{sweep}{value}", {key: value}) for value in values]
    rows = [
        {"run": f"{sweep}{value}", "seed": seed, "n": n, "sigma_w": n * (1 + value) * (1 + seed)}
        for value in values
        for seed in (0, 1)
        for n in (1, 2)
    ]
    return points, rows


@pytest.mark.parametrize(("scales", "reference"), [((1.0, 2.0, 4.0), 2.0), ((1.0, 3.0), 1.0)])
def test_s11_compares_each_realization_with_itself_at_the_reference(scales, reference):
    """Where s = 2 is not in the sweep, the reference is the first of the values nearest to it."""
    decays, decay_rows = shrinking((0.0, 0.5), BETA, "decay")
    inits, init_rows = shrinking(scales, S, "init")
    found = material([*decays, *inits], hidden_directions=[*decay_rows, *init_rows])
    drawing = s11.draw(found)
    decay = rows_where(drawing.points, panel="A")
    np.testing.assert_allclose(decay["mean"], [1.5, 1.5])
    np.testing.assert_allclose(decay["sd"], 0)
    init = rows_where(drawing.points, panel="B")
    assert set(init[S]) == set(scales) - {reference}
    for value in set(init[S]):
        np.testing.assert_allclose(
            rows_where(init, **{S: value})["mean"], (1 + value) / (1 + reference)
        )
    assert f"s={reference:g}" in drawing.figure.axes[1].get_ylabel()


def test_s13_begins_with_the_training_without_weight_decay():
    points = [
        ("decay", "none", {BETA: 0.0}),
        ("decay", "some", {BETA: 0.01}),
        ("decay_time", "short", {BETA: 0.01, UNTIL: 25}),
        ("decay_time", "some", {BETA: 0.01, UNTIL: 200}),
    ]
    gaps = {"none": 4.0, "some": 1.0, "short": 2.0}
    directions = [
        {"run": run, "seed": 0, "n": n, "sigma_g": gap, "S_w": gap * n, "correlation": 0.5}
        for run, gap in gaps.items()
        for n in (1, 2)
    ]
    summary = [
        {"run": run, "seed": 0, "n_sharp": 1, "dual_gap": gap, "gap_sharp": 1.0}
        | {"gap_flat": gap - 1, "S_w": gap * 2, "S_w_curved": gap}
        for run, gap in gaps.items()
    ]
    drawing = s13.draw(material(points, hidden_directions=directions, hidden_summary=summary))
    total = rows_where(drawing.points, quantity="dual_gap")
    assert dict(zip(total[UNTIL], total["mean"], strict=True)) == {0: 4, 25: 2, 200: 1}
    ax = drawing.figure.axes[2]
    flat = [line for line in ax.lines if line.get_color() == GREEN and line.get_linestyle() == "-"]
    assert flat[0].get_ydata().tolist() == [3, 1, 0]
