"""The panels of a sweep (Figure 3): numbers of the CSV and of the drawing, computed by hand."""

from math import nan, sqrt

import numpy as np
import pytest
from pencil import drawn_dots, note_of, rows_where
from pixels import in_pixels
from two_sweeps import DIRECTIONS, LR, SUMMARIES, B, made

from flatlas.plotting.style import BLACK, BLUE, RED
from flatlas.studies.duality import s4
from flatlas.studies.duality.strategies import FIGURES


@pytest.fixture(scope="module")
def drawn():
    return FIGURES["fig3"].draw(made())


def rows(points, quantity, panel, key, value):
    """The points of one quantity at one value of a panel."""
    return rows_where(points, quantity=quantity, panel=panel, **{key: value}).sort_values("n")


def spectra(ax):
    """The lines of a spectrum, by their legend."""
    return {line.get_label(): line for line in ax.lines if len(line.get_xdata()) == 3}


@pytest.mark.parametrize(
    ("quantity", "panel", "key", "value", "mean", "sd"),
    [
        ("sigma_g", "A", LR, 0.1, [6, 3, 1], [sqrt(8), sqrt(2), 0]),
        ("sigma_g", "A", LR, 0.2, [4, 2, 1], [sqrt(8), sqrt(2), 0]),
        # S_w is the sum of sigma_w up to n: 1, 3, 6 and 1, 5, 10 for the run `a`.
        ("S_w", "B", LR, 0.1, [1, 4, 8], [0, sqrt(2), sqrt(8)]),
        ("S_w", "B", LR, 0.2, [3, 7, 12], [sqrt(2), sqrt(18), sqrt(72)]),
        ("S_w", "E", B, 5, [1, 4, 8], [0, sqrt(2), sqrt(8)]),
        ("S_w", "E", B, 10, [1, 2, 3], [nan] * 3),
        ("n_sharp", "A", LR, 0.1, [2], [sqrt(2)]),
        ("n_sharp", "B", LR, 0.2, [1.5], [sqrt(0.5)]),
        ("dual_gap", "C", LR, 0.1, [0.5], [sqrt(0.125)]),
        ("dual_gap", "C", LR, 0.2, [1.5], [sqrt(0.5)]),
        ("gap_flat", "F", B, 5, [0], [sqrt(0.125)]),
        ("gap_sharp", "F", B, 10, [0.25], [nan]),
        # Beside the gaps: S_w in total, and over the directions with curvature.
        ("S_w", "C", LR, 0.1, [8], [sqrt(8)]),
        ("S_w_curved", "F", B, 10, [1], [nan]),
        ("n_sharp", "C", LR, 0.1, [2], [sqrt(2)]),
    ],
)
def test_the_table_has_means_and_deviations(drawn, quantity, panel, key, value, mean, sd):
    found = rows(drawn.points, quantity, panel, key, value)
    np.testing.assert_allclose(found["mean"], mean)
    np.testing.assert_allclose(found["sd"], sd)
    np.testing.assert_allclose(found["high"], found["mean"] + found["sd"])


def test_the_table_counts_realizations_and_those_that_converged(drawn):
    """A diverged training does not count: it has no solution."""
    points = drawn.points
    counts = points[points["quantity"] == "dual_gap"][[LR, B, "realizations", "converged"]]
    expected = [[0.1, nan, 2, 2], [0.2, nan, 2, 1], [nan, 5, 2, 2], [nan, 10, 1, 1]]
    np.testing.assert_array_equal(counts.to_numpy(dtype=float), expected)


def test_a_band_ends_a_deviation_below_the_mean():
    wide = SUMMARIES | {("a", 0): [-0.25, 0, 0, 1, 0, 0, 0], ("a", 1): [-0.75, 0, 0, 3, 0, 0, 0]}
    points = FIGURES["fig3"].draw(made(summaries=wide)).points
    sigma_g = rows(points, "sigma_g", "A", LR, 0.2)
    np.testing.assert_allclose(sigma_g["low"], [4 - sqrt(8), 2 - sqrt(2), 1])
    gap = rows(points, "dual_gap", "C", LR, 0.1)
    np.testing.assert_allclose(gap["low"], [-0.5 - sqrt(0.125)])


def test_a_band_that_would_reach_zero_ends_at_a_tenth_of_the_mean():
    far, apart = ([9.0, 1.0, 1.0], [1.0, 1.0, 1.0]), ([0.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    found = made(directions=DIRECTIONS | {("a", 0): far, ("a", 1): apart})
    low = rows(FIGURES["fig3"].draw(found).points, "sigma_g", "A", LR, 0.1)["low"]
    np.testing.assert_allclose(low, [0.45, 1, 1])


def test_spectra_are_drawn_as_the_table_says(drawn):
    axes = drawn.figure.axes
    for ax, means in (
        (axes[0], {"0.1": [6, 3, 1], "0.2": [4, 2, 1]}),
        (axes[1], {"0.1": [1, 4, 8], "0.2": [3, 7, 12]}),
        (axes[3], {"5": [6, 3, 1], "10": [3, 2, 1]}),
    ):
        lines = spectra(ax)
        assert lines.keys() == means.keys()
        for label, line in lines.items():
            np.testing.assert_allclose(line.get_xdata(), [1, 2, 3])
            np.testing.assert_allclose(line.get_ydata(), means[label])


def test_a_red_dot_on_each_line_is_the_mean_n_s(drawn):
    """Of `a` (1 + 3)/2, of `b` (2 + 1)/2, which rounds to 2."""
    axes = drawn.figure.axes
    assert drawn_dots(axes[0], colour=RED).keys() == {(2, 3), (2, 2)}
    assert drawn_dots(axes[1], colour=RED).keys() == {(2, 4), (2, 7)}


def test_lines_with_trainings_that_met_no_rule_are_dashed(drawn):
    axes = drawn.figure.axes
    styles = [{k: line.get_linestyle() for k, line in spectra(ax).items()} for ax in axes]
    assert styles[0] == styles[1] == {"0.1": "-", "0.2": "--"}
    assert styles[3] == styles[4] == {"5": "-", "10": "-"}, "what diverged is left out"


def test_gaps_with_trainings_that_met_no_rule_are_hollow(drawn):
    axes = drawn.figure.axes
    assert drawn_dots(axes[2], colour=BLACK) == {(0.1, 0.5): True, (0.2, 1.5): False}
    assert drawn_dots(axes[2], colour=BLUE) == {(0.1, 0.5): True, (0.2, 1.0): False}
    assert drawn_dots(axes[5], colour=BLACK) == {(5, 0.5): True, (10, 0.5): True}


def test_the_axis_of_gaps_begins_at_zero_or_below_the_lowest_bar(drawn):
    above = {where: [max(value, 0.25) for value in row] for where, row in SUMMARIES.items()}
    assert FIGURES["fig3"].draw(made(summaries=above)).figure.axes[2].get_ylim()[0] == 0
    bottom, top = drawn.figure.axes[2].get_ylim()
    assert bottom < -sqrt(0.125), "ΔL_f of `a` is 0 ± 0.35"
    assert top > 1.5 + sqrt(0.5)


def test_negative_gaps_are_within_the_axis():
    below = {where: [-0.5, -0.25, -0.25, *row[3:]] for where, row in SUMMARIES.items()}
    bottom, top = FIGURES["fig3"].draw(made(summaries=below)).figure.axes[2].get_ylim()
    assert bottom < -0.5
    assert top >= 0


@pytest.mark.parametrize("figure", [FIGURES["fig3"], s4])
def test_the_small_print_counts_what_met_no_rule(figure):
    said = note_of(figure.draw(made()))
    assert "2 realizations a run." in said
    assert "Of 6 trainings 2 met no stopping rule" in said
    assert "epochs exhausted: 1" in said
    assert "diverged: 1" in said


@pytest.mark.parametrize(("diverged", "left"), [("b", "A"), ("c", "D"), ("ac", "A"), ("abc", "")])
def test_runs_that_all_diverged_leave_the_others_as_they_are(diverged, left):
    """`ac` is the whole sweep of batch sizes, `abc` everything."""
    drawing = FIGURES["fig3"].draw(made(diverged))
    in_pixels(drawing.figure)
    shown = [{"0.1": "a", "0.2": "b"}, {"5": "a", "10": "c"}]
    for ax, runs in zip((drawing.figure.axes[0], drawing.figure.axes[3]), shown, strict=True):
        there = {label for label, run in runs.items() if run not in diverged}
        assert spectra(ax).keys() == there
    points = drawing.points
    columns = {LR, B, "n", "mean", "sd", "realizations", "converged", "low", "high"}
    assert set(points) == columns | {"panel", "quantity"}
    assert set(points["panel"]) >= set(left)
    assert (not left) == points.empty
    nets = s4.draw(made(diverged))
    in_pixels(nets.figure)
    measured = [where for where in SUMMARIES if where[0] not in diverged]
    assert list(zip(nets.points["run"], nets.points["seed"], strict=True)) == measured
