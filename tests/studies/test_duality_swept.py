"""The positions and labels of swept values on an axis."""

import pandas as pd
import pytest
from declared import RIGHT, declared, figure_of
from duality_worlds import world
from matplotlib import pyplot

from flatlas.evidence.material import Material
from flatlas.plan.studies import Sweep
from flatlas.plotting.style import written
from flatlas.studies.duality import s10
from flatlas.studies.duality.swept import set_ticks, varied


@pytest.mark.parametrize(
    ("values", "scale", "places"),
    [
        ([0.005, 0.01, 0.02, 0.05, 0.1], "log", [0.005, 0.01, 0.02, 0.05, 0.1]),
        ([1.0, 2.0, 3.0, 4.0], "linear", [1, 2, 3, 4]),
        ([0.0, 0.005, 0.01, 0.02], "linear", [0, 0.005, 0.01, 0.02]),
        ([0, 25, 50, 100, 200, 400], "linear", [0, 1, 2, 3, 4, 5]),
        (["dpsgd", "ssgd"], "linear", [0, 1]),
        ([(30, 20), (30, 30)], "linear", [0, 1]),
        ([0.1], "linear", [0.1]),
        ([], "linear", []),
    ],
    ids=["wide", "narrow", "zero", "crowded", "text", "lists", "one", "none"],
)
def test_values_have_positions_where_they_can_be_read(values, scale, places):
    _, ax = pyplot.subplots()
    found = set_ticks(ax, values, "batch")
    assert ax.get_xscale() == scale
    assert found == dict(zip(values, places, strict=True))
    assert [label.get_text() for label in ax.get_xticklabels()] == [written(one) for one in values]
    assert ax.get_xlabel() == "$B$"


def test_the_plan_checks_runs_on_the_axes_that_are_drawn():
    study = declared("duality")
    drawn = [one for one in study["figures"].values() if one.get("axes") == "drawn"]
    names = {sweep for figure in drawn for sweep in figure["sweeps"]}
    assert names
    for name in names:
        key = "learners.kind" if "learners" in name else varied(name)[0]
        assert Sweep(**study["sweeps"][name]).axis == key


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.005, "0.005"), (400, "400"), ((30, 30), "30-30"), ("ssgd", "ssgd"), (True, "True")],
)
def test_a_value_reads_as_it_was_written(value, said):
    assert written(value) == said


def test_each_of_many_minibatches_has_dots():
    """More minibatches than markers: each of the three gaps has a dot for each network."""
    few = world(RIGHT, "s10").tables
    sizes = range(1, 5)
    many = {
        name: pd.concat([table.assign(batch=table["batch"] * size) for size in sizes])
        for name, table in few.items()
    }
    runs = {name: table["run"] + table["batch"].map("-{}".format) for name, table in many.items()}
    material = Material({name: many[name].assign(run=runs[name]) for name in many})
    drawing = figure_of("duality", "s10").draw(material)
    (gaps,) = [ax for ax in drawing.figure.axes if ax.get_xlabel() == r"$\alpha/B$"]
    dots = {(float(x), float(y)) for line in gaps.lines for x, y in line.get_xydata()}
    means = drawing.points[drawing.points["panel"] == "C"]
    assert means["batch"].nunique() > len(s10.MARKERS)
    assert {*zip(means["ratio"], means["mean"], strict=True)} <= dots
