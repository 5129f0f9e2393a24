"""The small print under a figure."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from pencil import note_of

from flatlas.evidence.material import Material
from flatlas.plotting import trainings
from flatlas.plotting.style import note
from flatlas.studies.atlas import fig3
from flatlas.studies.atlas.styles import small_print


@pytest.mark.parametrize("before", range(30, 50))
def test_no_line_ends_within_a_formula(before):
    """Half a formula would be printed as it was typed."""
    figure = pyplot.figure(figsize=(3, 2))
    text = f"{'a' * (before - 10)} {'b' * 8} with $s = 1 + x$ and $y$ in the end"
    note(figure, text)
    lines = figure.get_supxlabel().split("\n")
    assert " ".join(lines) == text
    assert len(lines) > 1
    assert all(line.count("$") % 2 == 0 for line in lines)


@pytest.mark.parametrize(
    ("runs", "number"), [("aaa", "3"), ("aaabbb", "3"), ("aaabb", "2 to 3"), ("a", "1")]
)
def test_runs_may_have_different_numbers_of_realizations(runs, number):
    nets = pd.DataFrame({"run": [*runs], "seed": range(len(runs)), "converged": True})
    text = trainings.small_print(Material({"outcomes": nets}))
    assert text.partition(" realization")[0] == number


def test_the_atlas_counts_searches_that_did_not_converge():
    """It counts each net once, whatever sweeps it is in."""
    nets = pd.DataFrame({"run": ["a", "b", "b"], "seed": 0, "study": "made", "at": "met+0"})
    nets["converged"] = True
    found = nets.assign(sharpness_settled=[0.0, 1.0, 1.0], prior_settled=[np.nan, 0.0, 0.0])
    text = small_print(Material({"outcomes": nets}), found)
    assert " 2 of 3 values come from searches that did not converge" in text
    settled = found.assign(sharpness_settled=1.0, prior_settled=1.0)
    assert "converge" not in small_print(Material({"outcomes": nets}), settled)


def test_the_atlas_counts_nets_whose_measure_changes_its_sign():
    """No factor shows the change of sign, so the heat map leaves these nets out."""
    nets = pd.DataFrame({"sweep": "s", "run": ["a", "a", "b"], "seed": [0, 1, 0]})
    rows = {"none": [1.0, 1.0, 2.0], "layer": [-1.0, -2.0, 3.0], "neurons": [1.0, 1.0, 2.0]}
    gaps = [
        nets.assign(dual_gap=values, T_g=1.0, T_w=1.0, scaling=scaling, at="met+0")
        for scaling, values in rows.items()
    ]
    tables = {"outcomes": nets.assign(of="s", converged=True), "survival_duality": pd.concat(gaps)}
    drawing = fig3.draw(Material(tables))
    text = note_of(drawing)
    assert "left out: $\\Delta L$, duality† by α-scaling of a layer (nets: 2)." in text
    assert "neurons (nets" not in text
