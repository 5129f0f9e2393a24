"""Figures of the study `annealing`: what is drawn from tables made up by known laws."""

import numpy as np
import pandas as pd
import pytest
from annealing_worlds import LAST, world
from declared import RIGHT, figure_of
from judging import with_columns
from pencil import note_of, rows_where

from flatlas.evidence.material import Material
from flatlas.studies.annealing.fig5 import moments
from flatlas.studies.annealing.fits import fit
from flatlas.studies.annealing.recordings import recorded, scientific, small_print, span


def draw(figure, material):
    return figure_of("annealing", figure).draw(material)


def exponents(drawing):
    rows = drawing.points
    return rows[rows["quantity"].notna()]


def texts(drawing, panel):
    return [text.get_text() for text in drawing.figure.axes[panel].texts]


def test_the_losses_between_which_was_recorded():
    made = world(RIGHT, "fig1", seeds=2)
    first, last = 0.01 / 290, 0.01 / LAST
    np.testing.assert_allclose(recorded(made)[["first_loss", "loss"]], [[first, last]] * 2)
    said = small_print(made)
    assert r"Recorded for 10 epochs from a training loss of $3.4\times10^{-5}$" in said
    assert r"$3.3\times10^{-5}$" in said
    assert said.endswith("2 nets.")


def test_a_net_without_a_recording_is_counted():
    made = with_columns(
        world(RIGHT, "fig1", seeds=2),
        "outcomes",
        met_epoch=lambda rows: rows["met_epoch"].where(rows["seed"] == 0, 0),
    )
    assert small_print(made).endswith("2 nets, 1 without a recording.")


def test_how_a_loss_is_written():
    assert scientific(4.6e-5) == r"$4.6\times10^{-5}$"
    assert scientific(9.99e-4) == r"$1.0\times10^{-3}$"
    assert span([1, 3, 2], "{:g}".format) == "1 to 3"
    assert span([2, 2], "{:g}".format) == "2"


def test_a_fit_is_of_its_ranks_only_and_says_what_it_found():
    """σ² = F⁻⁴ up to rank 20, something else beyond; one net is twice the other."""
    nets = []
    for seed in range(2):
        rank, width = np.arange(1, 41), np.geomspace(1, 10, 40)
        variance = np.where(rank <= 20, (1 + seed) * width**-4.0, 7.0)
        columns = {"rank": rank, "flatness": width, "variance": variance}
        nets.append(pd.DataFrame(columns).assign(run="a", seed=seed))
    rows = pd.concat(nets)
    found = fit(rows, "flatness", "variance", 2, 20)
    assert found.slope.value == pytest.approx(-4)
    assert found.ranks == (2, 20)
    assert found.x == (width[1], width[19])
    # Its line lies between the two nets, at √2 on a logarithmic axis.
    assert found.y[0] == pytest.approx(np.sqrt(2) * found.x[0] ** -4)
    assert found.label(r"\psi", -1) == r"$\psi$ = 4.00 [4.00, 4.00]"
    (row,) = found.row.to_dict("records")
    assert row["quantity"] == "exponent of variance over flatness"
    assert (row["low"], row["value"], row["high"]) == pytest.approx((-4, -4, -4))
    assert fit(rows, "flatness", "variance", 300, 400) is None


def test_each_rate_has_its_own_exponent_in_the_csv_of_figure_2():
    def variance(rows):
        return rows["flatness"] ** np.where(rows["batch"] == 25, -3.0, -4.0)

    made = with_columns(world(RIGHT, "fig2", seeds=1), "valley_directions", variance=variance)
    drawing = draw("fig2", made)
    found = exponents(drawing).set_index(["batch", "optimizer.lr"])["value"]
    expected = {(50, 0.1): -4, (25, 0.1): -3, (100, 0.1): -4, (50, 0.05): -4, (50, 0.2): -4}
    assert found.to_dict() == pytest.approx(expected)
    assert "of one net over its directions" in note_of(drawing)
    labels = [text.get_text() for text in drawing.figure.axes[3].get_legend().get_texts()]
    assert labels[0] == r"$B$ = 50, $\alpha$ = 0.1, $\psi$ = 4.00 [4.00, 4.00]"


def test_the_spectrum_and_the_rank_by_which_nine_tenths_are_reached():
    drawing = draw("fig1", world(RIGHT, "fig1", seeds=2))
    assert texts(drawing, 1) == ["90 % at n = 34"]
    found = exponents(drawing).set_index("from_rank")["value"]
    assert found.to_dict() == pytest.approx({20: -2.6, 200: -5})
    # The path is that of the first net alone.
    assert set(rows_where(drawing.points, panel="C")["seed"]) == {0}


def test_exploration_is_marked_where_the_criterion_says():
    drawing = draw("s1", world(RIGHT, "s1", seeds=1))
    begins = rows_where(drawing.points, panel="C")["begins"].iloc[0]
    assert 50 <= begins <= 1.3 * 50
    assert texts(drawing, 0) == [f" exploration\n from epoch {begins:.0f}"]


def test_a_loss_without_a_drop_is_said_to_have_one_phase():
    def one(rows):
        return 1 / rows["epoch"].clip(lower=1)

    drawing = draw("s1", with_columns(world(RIGHT, "s1", seeds=1), "history", train_loss=one))
    assert texts(drawing, 0) == texts(drawing, 1) == ["one phase"]


def test_losses_go_from_high_to_low():
    drawing = draw("losses", world(RIGHT, "losses", seeds=1))
    expected = [0.1, 0.01, 0.001, 0.0002, 0.00005]
    assert exponents(drawing)["stop.loss_below"].tolist() == expected
    assert len(drawing.figure.axes) == len(expected) + 1


def test_each_moment_of_the_temperature_comes_once_in_order_of_time():
    """The checkpoint beyond the end repeats it."""
    tables = world(RIGHT, "fig5").tables
    backwards = tables["cooling_directions"].iloc[::-1]
    made = Material({**tables, "cooling_directions": backwards})
    assert moments(made, "cooling_directions")["epoch"].tolist() == [1, 10, 100, LAST]
