"""Figures of several learners (5, 6, 7), checked with a pencil."""

from math import sqrt

import numpy as np
import pytest
from pencil import drawn_dots, material, rows_where

from flatlas.plotting.style import BLUE, RED
from flatlas.studies.duality import fig6
from flatlas.studies.duality.learners import FIGURES

KIND = "learners.kind"
POINTS = [("learners", kind, {KIND: kind}) for kind in ("ssgd", "dpsgd")]


@pytest.fixture
def solutions():
    """Two realizations of each kind, with three directions."""
    directions = [
        {"run": kind, "seed": seed, "n": n, "sigma_g": g, "S_w": 10.0 * n, "gap": g / 4}
        for kind, sharp in (("ssgd", 8.0), ("dpsgd", 4.0))
        for seed in (0, 1)
        for n, g in enumerate((sharp * (1 + seed), 2.0, 1.0), start=1)
    ]
    errors = {("ssgd", 0): 0.02, ("ssgd", 1): 0.04, ("dpsgd", 0): 0.02, ("dpsgd", 1): 0.02}
    summary = [{"run": r, "seed": s, "test_error": e} for (r, s), e in errors.items()]
    return material(POINTS, {("dpsgd", 1)}, hidden_directions=directions, hidden_summary=summary)


def test_fig5_draws_a_line_for_each_kind_with_the_numbers_of_its_table(solutions):
    drawing = FIGURES["fig5"].draw(solutions)
    for ax, panel, ssgd, dpsgd in zip(
        drawing.figure.axes, "ABC",
        ([3, 0.5, 0.25], [12, 2, 1], [10, 20, 30]),
        ([1.5, 0.5, 0.25], [6, 2, 1], [10, 20, 30]),
        strict=True,
    ):  # fmt: skip
        lines = {line.get_color(): line for line in ax.lines if len(line.get_xdata()) == 3}
        for kind, colour, means in (("ssgd", BLUE, ssgd), ("dpsgd", RED, dpsgd)):
            points = rows_where(drawing.points, panel=panel, **{KIND: kind}).dropna(subset="n")
            np.testing.assert_allclose(points["mean"], means)
            np.testing.assert_allclose(lines[colour].get_ydata(), means)
            np.testing.assert_allclose(lines[colour].get_xdata(), [1, 2, 3])
        assert lines[BLUE].get_linestyle() == "-"
        assert lines[RED].get_linestyle() == "--", "one DPSGD training met no rule"


def test_fig5_has_test_errors_beside_the_papers(solutions):
    drawing = FIGURES["fig5"].draw(solutions)
    errors = rows_where(drawing.points, quantity="test_error").set_index(KIND)
    assert errors["mean"].to_dict() == pytest.approx({"ssgd": 0.03, "dpsgd": 0.02})
    legend = drawing.figure.axes[0].get_legend()
    assert {text.get_text() for text in legend.get_texts()} == {
        "SSGD\ntest error 3.0 ± 1.4 %\n(paper: 2.6 %)",
        "DPSGD\ntest error 2.0 ± 0.0 %\n(paper: 2.3 %)",
    }


def test_fig7_has_a_row_of_panels_for_each_net(solutions):
    """The DenseNet's are those of the fixture, the ResNet's ten times as large."""
    nets = {"resnet_learners": 10.0, "densenet_learners": 1.0}
    made = {
        table.replace("hidden", "last"): [
            row | {"run": f"{net} {row['run']}"}
            | {name: factor * row[name] for name in row.keys() & {"gap", "sigma_g", "test_error"}}
            for net, factor in nets.items()
            for row in rows.drop(columns=["sweep", KIND, "at"], errors="ignore").to_dict("records")
        ]
        for table, rows in solutions.tables.items() if table != "outcomes"
    }  # fmt: skip
    points = [(net, f"{net} {kind}", {KIND: kind}) for net in nets for _, kind, _ in POINTS]
    drawing = FIGURES["fig7"].draw(material(points, **made))
    for letters, factor in (("ABC", 10), ("DEF", 1)):
        for panel, means in zip(letters, ([3, 0.5, 0.25], [12, 2, 1], [1, 2, 3]), strict=True):
            points = rows_where(drawing.points, panel=panel, **{KIND: "ssgd"}).dropna(subset="n")
            scale = 10 if panel in "CF" else factor
            np.testing.assert_allclose(points["mean"], scale * np.array(means))
    first, second = (drawing.figure.axes[place] for place in (0, 3))
    assert (first.get_title("right"), second.get_title("right")) == ("ResNet", "DenseNet")
    said = {text.get_text() for text in second.get_legend().get_texts()}
    assert "DPSGD\ntest error 2.0 ± 0.0 %\n(paper: 5.2 %)" in said


@pytest.fixture
def gradients():
    """Noise at two moments; seed 1 of SSGD had ended before the first of them."""
    rows = [
        {"run": kind, "seed": seed, "at": at, "epoch": epoch, "n": n}
        | {"eigenvalue": h * (1 + seed), "noise": noise * (1 + 2 * seed)}
        for kind, more in (("ssgd", 1.0), ("dpsgd", 2.0))
        for seed in (0, 1)
        for at, epoch in (("10", 5 if (kind, seed) == ("ssgd", 1) else 10), ("final", 20))
        for n, h, noise in ((1, 4.0, more), (2, 2.0, 0.5 * more), (3, -1.0, 9.0))
    ]
    return material(POINTS, gradients_directions=rows)


def test_fig6_has_means_of_the_curved_directions(gradients):
    points = rows_where(fig6.draw(gradients).points, **{KIND: "dpsgd", "at": "final"})
    np.testing.assert_allclose(points["n"], [1, 2])
    np.testing.assert_allclose(points["eigenvalue"], [6, 3])
    np.testing.assert_allclose(points["mean"], [4, 2])
    np.testing.assert_allclose(points["sd"], [sqrt(8), sqrt(2)])


def test_fig6_leaves_out_at_a_moment_what_had_ended_before(gradients):
    points = rows_where(fig6.draw(gradients).points, **{KIND: "ssgd", "at": "10"})
    assert points["realizations"].tolist() == [1, 1]
    np.testing.assert_allclose(points["eigenvalue"], [4, 2])


def test_fig6_draws_dpsgd_at_every_moment_and_both_kinds_at_each(gradients):
    large, first, last = fig6.draw(gradients).figure.axes
    assert drawn_dots(large).keys() == {(6, 4), (3, 2)}, "the same at both moments"
    labels = [text.get_text() for text in large.get_legend().get_texts()]
    assert labels == ["epoch 10", "final"]
    assert [ax.get_title() for ax in (first, last)] == ["epoch 10", "final"]
    assert drawn_dots(first).keys() == {(6, 4), (3, 2), (4, 1), (2, 0.5)}
    assert drawn_dots(last).keys() == {(6, 4), (3, 2), (6, 2), (3, 1)}
