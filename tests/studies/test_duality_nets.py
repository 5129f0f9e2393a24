"""Figures with a dot for each net (2, S4): the colour of its sweep, hollow if it met no rule."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from pencil import drawn_dots, material, rows_where
from two_sweeps import POINTS, SUMMARIES, made

from flatlas.studies.duality import fig2, s4
from flatlas.studies.duality.nets import DEFAULTS, styles


@pytest.fixture(scope="module")
def drawn():
    return s4.draw(made())


def test_each_net_has_one_row_and_one_of_several_sweeps_belongs_to_the_defaults(drawn):
    points = drawn.points
    assert list(zip(points["run"], points["seed"], strict=True)) == list(SUMMARIES)
    assert points["sweep"].tolist() == [DEFAULTS, DEFAULTS, "alpha", "alpha", "batch"]
    assert points["test_error_percent"].tolist() == [12.5, 25, 50, 37.5, 25]


def test_s4_has_a_dot_for_each_net_hollow_where_no_rule_was_met(drawn):
    figure = drawn.figure
    gaps, errors = (
        {
            (x, y): full
            for marker in "os"
            for (x, y), full in drawn_dots(ax, marker).items()
        }
        for ax in figure.axes
    )  # fmt: skip
    places = {(0.25, 0.25), (1, 0.75), (1.25, 1), (0.5, 0.5)}
    assert gaps == dict.fromkeys(places, True) | {(2.5, 2.0): False}
    places = {(0.25, 12.5), (0.75, 25), (1, 50), (0.5, 25)}
    assert errors == dict.fromkeys(places, True) | {(2, 37.5): False}


def test_a_dot_has_the_colour_of_its_sweep_as_the_legend_says(drawn):
    ax = drawn.figure.axes[0]
    colours = {to_hex(line.get_color()) for line in ax.lines if line.get_marker() != "None"}
    how = styles([DEFAULTS, "batch", "alpha"])
    assert colours == {style.colour.lower() for style in how.values()}
    legend = drawn.figure.axes[1].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [r"$\alpha$", "$B$", DEFAULTS]


def test_sweeps_that_the_paper_does_not_have_differ_and_keep_their_names():
    how = styles(["mine", "alpha", "optimizers"])
    assert [*how] == ["mine", "optimizers", "alpha"]
    assert (how["mine"].label, how["optimizers"].label) == ("mine", "optimizers")
    assert how["mine"].colour != how["optimizers"].colour
    assert how["mine"].marker != how["optimizers"].marker


def test_s4_has_deviation_and_correlation_of_those_that_converged(drawn):
    """The median of |ΔL/ΔL̃ − 1|, which is 0, 1/4, 1/5 and 0 (and 1/5 of the hollow one)."""
    accuracy, error = drawn.figure.axes
    assert accuracy.get_title(loc="right") == "median deviation 10.0%"
    r = np.corrcoef([0.25, 0.75, 1, 0.5], [0.125, 0.25, 0.5, 0.25])[0, 1]
    rho = np.corrcoef([1, 3, 4, 2], [1, 2.5, 4, 2.5])[0, 1]
    assert error.get_title(loc="right") == f"Pearson {r:.2f}, Spearman {rho:.2f}"


@pytest.fixture
def spectra():
    """Eigenvalues that are positive, zero up to round-off, and negative; one dead direction."""
    directions = [
        {"run": run, "seed": 0, "n": n, "eigenvalue": h, "sigma_g": g}
        for run in "abc"
        for n, h, g in ((1, 2.0, 4.0), (2, 1.0, 3.0), (3, 1e-13, 2.0), (4, -1.0, 1.0), (5, 0.5, 0))
    ]
    summary = [
        {"run": run, "seed": 0, "T_g": 30.0, "T_h": 3.0, "T_w": t, "layer_norm": t * 10}
        for run, t in (("a", 1.0), ("b", 2.0), ("c", 3.0))
    ]
    return material(POINTS, hidden_directions=directions, hidden_summary=summary)


def test_fig2_shows_directions_that_are_curved_and_alive(spectra):
    drawing = fig2.draw(spectra)
    points = rows_where(drawing.points, panel="A")
    for run in "abc":
        of_run = rows_where(points, run=run)
        assert of_run["n"].tolist() == [1, 2]
        assert of_run["sigma_g_squared"].tolist() == [16, 9]
    (dots,) = drawing.figure.axes[0].collections
    shown = {tuple(place) for place in dots.get_offsets().data.tolist()}
    assert shown == {(2, 16), (1, 9)}
    assert len(dots.get_offsets()) == 6


def test_fig2_shows_size_against_the_norm_of_the_layer(spectra):
    drawing = fig2.draw(spectra)
    assert rows_where(drawing.points, panel="B")["layer_norm"].tolist() == [10, 20, 30]
    ax = drawing.figure.axes[1]
    assert drawn_dots(ax) == {(10, 1): True, (20, 2): True}
    assert drawn_dots(ax, "s") == {(30, 3): True}
