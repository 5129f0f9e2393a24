"""The positions and labels of swept values on an axis."""

import pytest
from matplotlib import pyplot

from flatlas.studies.duality.swept import set_ticks, written


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


@pytest.mark.parametrize(
    ("value", "said"), [(0.005, "0.005"), (400, "400"), ((30, 30), "30-30"), ("ssgd", "ssgd")]
)
def test_a_value_reads_as_it_was_written(value, said):
    assert written(value) == said
