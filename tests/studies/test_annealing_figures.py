"""Figures of the study `annealing`, on tables small enough to check by hand."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from pencil import told

from flatlas.evidence.material import Material
from flatlas.studies.annealing.fig5 import moments
from flatlas.studies.annealing.fits import fit
from flatlas.studies.annealing.recordings import recorded, scientific, small_print, span

RANK = np.arange(1, 41)
NETS = [("a", 0), ("a", 1)]


def material(nets=NETS, swept=None, **tables):
    """Nets that met their rule at epoch 4, recorded until 6; tables by functions of the seed."""
    history = {"epoch": np.arange(7), "train_loss": [2.0, 1.0, 0.1, 0.02, 0.01, 0.008, 0.004]}
    ended = {"met_epoch": [4], "epoch": 6, "converged": True, "reason": "rule met"}
    made = {"history": lambda seed: history, "outcomes": lambda seed: ended}
    found = {}
    for name, columns in {**made, **tables}.items():
        parts = [
            pd.DataFrame(columns(seed)).assign(
                sweep="base", run=run, seed=seed, **(swept or {}).get(run, {})
            )
            for run, seed in nets
        ]
        found[name] = pd.concat(parts, ignore_index=True)
    return Material(found)


def valley(seed, power=-4.0, factor=1.0):
    width = np.geomspace(1, 10, len(RANK))
    columns = {"rank": RANK, "flatness": width, "variance": factor * (1 + seed) * width**power}
    return columns | {"at": "final"}


def draw(figure, made):
    return import_module(f"flatlas.studies.annealing.{figure}").draw(made)


def exponents(drawing):
    rows = drawing.points
    return rows[rows["quantity"].notna()]


def test_the_losses_between_which_was_recorded():
    rows = recorded(material())
    assert rows[["first_loss", "loss"]].to_numpy().tolist() == [[0.01, 0.004]] * 2
    said = small_print(material())
    assert r"Recorded for 2 epochs, beginning at a training loss of $1.0\times10^{-2}$" in said
    assert r"$4.0\times10^{-3}$" in said
    assert said.endswith("2 nets.")


def test_a_net_without_a_recording_is_counted():
    made = material()
    outcomes = made.tables["outcomes"]
    outcomes.loc[1, ["met_epoch", "converged"]] = 0, False
    assert small_print(made).endswith("2 nets, 1 without a recording.")


def test_how_a_loss_is_written():
    assert scientific(4.6e-5) == r"$4.6\times10^{-5}$"
    assert scientific(9.99e-4) == r"$1.0\times10^{-3}$"
    assert span([1, 3, 2], "{:g}".format) == "1 to 3"
    assert span([2, 2], "{:g}".format) == "2"


def test_a_fit_is_of_its_ranks_only_and_says_what_it_found():
    """σ² = F⁻⁴ up to rank 20, something else beyond; one net is twice the other."""
    rows = material(valley=valley).tables["valley"]
    rows["variance"] = rows["variance"].where(rows["rank"] <= 20, 7.0)
    found = fit(rows, "flatness", "variance", 2, 20)
    assert found.slope.value == pytest.approx(-4)
    assert found.ranks == (2, 20)
    assert found.x == (rows["flatness"][1], rows["flatness"][19])
    # Its line lies between the two nets, at √2 on a logarithmic axis.
    assert found.y[0] == pytest.approx(np.sqrt(2) * found.x[0] ** -4)
    assert found.label(r"\psi", -1) == r"$\psi$ = 4.00 [4.00, 4.00]"
    (row,) = found.row.to_dict("records")
    assert row["quantity"] == "exponent of variance over flatness"
    assert (row["low"], row["value"], row["high"]) == pytest.approx((-4, -4, -4))
    assert fit(rows, "flatness", "variance", 300, 400) is None


def test_each_rate_has_its_own_exponent_in_the_csv_of_figure_2():
    swept = {"a": {"batch": 50, "optimizer.lr": 0.1}, "b": {"batch": 25, "optimizer.lr": 0.1}}
    powers = {0: -4.0, 1: -3.0}
    profile = {"delta": [-1.0, 0, 1], "loss": [3.0, 1, 3], "quadratic": [3.0, 1, 3]}
    made = material(
        [("a", 0), ("b", 1)],
        swept,
        valley_directions=lambda seed: valley(seed, powers[seed]),
        valley_profiles=lambda seed: profile | {"rank": 10, "at": "final"},
    )
    drawing = draw("fig2", made)
    found = exponents(drawing).set_index("batch")["value"]
    assert found.to_dict() == pytest.approx({50: -4, 25: -3})
    assert "of one net over its directions" in drawing.figure.get_supxlabel().replace("\n", " ")
    labels = [text.get_text() for text in drawing.figure.axes[3].get_legend().get_texts()]
    assert labels[0] == r"$B$ = 50, $\alpha$ = 0.1, $\psi$ = 4.00 [4.00, 4.00]"


def test_the_rank_by_which_nine_tenths_are_reached():
    rank = np.arange(1, 301)
    spectrum = {
        "rank": rank,
        "variance": np.where(rank <= 200, rank**-2.5, 200**2.5 * rank**-5.0),
        "cumulative": np.minimum((rank - 1) / 100, 1),
    }
    path = {"rank": np.repeat([1, 2, 49, 50], 5), "time": np.tile(np.arange(5), 4)}
    path |= {"theta": np.arange(20.0)}
    drawing = draw(
        "fig1",
        material(
            pca_directions=lambda seed: spectrum | {"at": "final"},
            pca_projections=lambda seed: path | {"at": "final"},
        ),
    )
    texts = [text.get_text() for text in drawing.figure.axes[1].texts]
    assert texts == ["90 % at n = 91"]
    found = exponents(drawing).set_index("from_rank")["value"]
    assert found.to_dict() == pytest.approx({20: -2.5, 200: -5})
    # The path is that of the first net alone.
    assert set(told(drawing.points, panel="C")["seed"]) == {0}


def test_exploration_is_marked_where_the_criterion_says():
    epoch = np.arange(200)
    loss = 1 / np.maximum(epoch, 1) * np.where(epoch < 40, 1, 0.01)
    made = material([("a", 0)], history=lambda seed: {"epoch": epoch, "train_loss": loss})
    tables = {name: rows.assign(sweep="deep_curve") for name, rows in made.tables.items()}
    drawing = draw("s1", Material(tables))
    begins = told(drawing.points, panel="C")["begins"].iloc[0]
    assert 40 <= begins <= 1.3 * 40
    texts = [text.get_text() for text in drawing.figure.axes[0].texts]
    assert texts == [f" exploration\n from epoch {begins:.0f}"]


def test_a_loss_without_a_drop_is_said_to_have_one_phase():
    loss = {"epoch": np.arange(1, 200), "train_loss": 1 / np.arange(1, 200)}
    made = material([("a", 0)], history=lambda seed: loss)
    tables = {name: rows.assign(sweep="lenet_curve") for name, rows in made.tables.items()}
    drawing = draw("s1", Material(tables))
    assert [text.get_text() for text in drawing.figure.axes[1].texts] == ["one phase"]


def test_losses_go_from_high_to_low():
    swept = {run: {"stop.loss_below": rule} for run, rule in {"a": 0.01, "b": 0.1}.items()}
    made = material([("a", 0), ("b", 0)], swept, valley_directions=valley)
    drawing = draw("losses", made)
    assert exponents(drawing)["stop.loss_below"].tolist() == [0.1, 0.01]
    assert len(drawing.figure.axes) == 3


def test_each_moment_of_the_temperature_comes_once_in_order_of_time():
    """The checkpoint beyond the end repeats it."""
    at, epoch = ["2", "1", "final", "9"], [2, 1, 6, 6]
    rows = {"at": at, "epoch": epoch, "rank": 10, "temperature": [3.0, 4, 1, 1], "loss": 0.1}
    made = material(cooling_directions=lambda seed: rows)
    assert moments(made, "cooling_directions")["temperature"].tolist() == [4, 3, 1]
