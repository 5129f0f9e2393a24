"""Where a user's networks lie among those of the atlas, and why some measures lie nowhere."""

import numpy as np
import pandas as pd
import pytest

from flatlas.evidence.material import Material
from flatlas.plan.tables import ATLAS_MINE
from flatlas.studies.atlas.quantities import QUANTITIES
from flatlas.studies.atlas_mine.place import draw
from flatlas.studies.atlas_mine.placed import placed

OPTIONS = {"hessian": {"measure": "hessian", "top": 20}, "norms": {"measure": "norms"}}
TASK = {"data.source": "mnist", "outputs": 1}


def table(values, **more):
    """Networks with these traces and test errors, their rules met; each also 100 epochs later."""
    rows = [
        TASK | {"run": f"r{number}", "seed": 0, "at": at, "trace": x, "test_error": x / 10}
        for number, x in enumerate(values)
        for at in ("met", "met+100")
    ]
    made = pd.DataFrame(rows).assign(**more)
    made.loc[made["at"] != "met", "trace"] = 1e9
    made.attrs["options"] = OPTIONS
    return made


def mine(**more):
    net = TASK | {"run": "m", "seed": 0, "net": "small", "trace": 2.5, "test_error": 0.2}
    made = pd.DataFrame([net | {"trace_error": 0.5, "epochs": 0.0} | more])
    made.attrs["options"] = OPTIONS
    return made


def drawn(net, rows, published):
    tables = {"mine": net, "placed": rows}
    return draw(Material(tables if published is None else tables | {"published": published})).figure


def of(rows, measure):
    (row,) = rows[rows["measure"] == measure].to_dict("records")
    return row


def test_a_percentile_counts_each_network_once_when_its_rule_was_met():
    row = of(placed(mine(), table([1.0, 2.0, 3.0, 4.0])), "trace")
    assert (row["percentile"], row["networks"], row["why"]) == (50.0, 4, "")
    assert (row["net"], row["value"], row["error"]) == ("small", 2.5, 0.5)


@pytest.mark.parametrize(("value", "percentile"), [(0.0, 0), (9.0, 100), (2.0, 37.5)])
def test_an_equal_value_counts_half(value, percentile):
    row = of(placed(mine(trace=value), table([1.0, 2.0, 3.0, 4.0])), "trace")
    assert row["percentile"] == percentile


def test_there_is_a_row_for_each_measure_with_the_declared_columns():
    rows = placed(mine(), table([1.0, 2.0]))
    assert [*rows] == [*ATLAS_MINE]
    assert {*rows["measure"]} == {"test_error", *QUANTITIES}
    assert of(rows, "test_error")["networks"] == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"data.source": "cifar10"}, "another data set: cifar10, in the atlas mnist"),
        ({"outputs": 10}, "another loss: 10 outputs"),
        ({"outputs": 2}, "another loss: 2 outputs"),
    ],
)
def test_networks_of_another_task_are_listed_with_their_values(change, why):
    rows = placed(mine(**change), table([1.0, 2.0]))
    row = of(rows, "trace")
    assert row["why"].startswith(why)
    assert row["value"] == 2.5 and np.isnan(row["percentile"]) and row["networks"] == 0
    assert (rows["why"] != "").all()


def test_only_networks_of_the_same_task_are_compared():
    both = pd.concat([table([1.0, 2.0]), table([3.0, 4.0, 5.0], outputs=10)])
    both["run"] = both["run"] + both["outputs"].astype(str)
    both.attrs["options"] = OPTIONS
    assert of(placed(mine(), both), "trace")["networks"] == 2


def test_a_measure_with_other_options_is_listed_with_what_differs():
    net = mine()
    net.attrs["options"] = OPTIONS | {"hessian": {"measure": "hessian", "top": 50}}
    rows = placed(net, table([1.0, 2.0]))
    assert of(rows, "trace")["why"] == "other options: top 50 instead of 20"
    assert of(rows, "test_error")["why"] == ""


def test_options_are_those_of_the_measure_whatever_its_name():
    both = [one.assign(fisher_rao=1.0) for one in (mine(), table([1.0, 2.0]))]
    for one, layer in zip(both, ("fc1", "fc2"), strict=True):
        one.attrs["options"] = OPTIONS | {"fisher_rao": {"measure": "fisher_rao", "layer": layer}}
    assert of(placed(*both), "fisher_rao")["why"] == "other options: layer fc1 instead of fc2"


@pytest.mark.parametrize("measure", ["prior", "epochs", "path_norm"])
def test_what_is_unknown_of_my_network_is_listed(measure):
    row = of(placed(mine(), table([1.0, 2.0], **{measure: 1.0})), measure)
    assert row["why"] and np.isnan(row["percentile"])


def test_without_a_published_table_every_measure_says_so():
    row = of(placed(mine(), None), "trace")
    assert row["why"] == "no table of the atlas is published" and row["value"] == 2.5


@pytest.mark.parametrize("hollow", [{}, {"trace_converged": False}], ids=["", "not converged"])
def test_a_panel_has_the_comparable_networks_and_a_star_for_mine(hollow):
    net, published = mine(**hollow), table([1.0, 2.0, 3.0])
    figure = drawn(net, placed(net, published), published)
    (panel,) = [ax for ax in figure.axes if ax.lines and ax.get_title()]
    dots, star = panel.lines[:2]
    assert sorted(dots.get_xdata()) == [1.0, 2.0, 3.0]
    assert star.get_marker() == "*"
    assert (star.get_markerfacecolor() == "white") == bool(hollow)
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (2.5, 20.0)


def test_no_network_is_placed_if_none_is_a_solution():
    none = mine().iloc[:0]
    none.attrs["options"] = OPTIONS
    rows = placed(none, table([1.0, 2.0]))
    assert [*rows] == [*ATLAS_MINE] and rows.empty
    drawn(none, rows, table([1.0, 2.0]))


@pytest.mark.parametrize("published", [None, table([1.0, 2.0]).assign(outputs=10)])
def test_without_anything_to_compare_no_panel_is_drawn(published):
    if published is not None:
        published.attrs["options"] = OPTIONS
    rows = placed(mine(), published)
    figure = drawn(mine(), rows, published)
    assert not [line for ax in figure.axes for line in ax.lines]
