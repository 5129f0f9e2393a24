"""Which nets of the atlas are compared along an axis, and which have the same value there."""

import numpy as np
import pandas as pd
import pytest
from atlas_worlds import baselines
from declared import ended
from side_by_side import material_of

from flatlas.studies.atlas.nets import Along, along, crossed, factors, nets
from flatlas.studies.atlas.ranking import REPEATED, with_repeated


def table(*rows, sweep="batch"):
    point = {"sweep": sweep, "of": "made.batch", "study": "made", "seed": 0, "gap": 0.1}
    point["at"] = "met+0"
    return pd.DataFrame([point | {"run": f"run{place}"} | row for place, row in enumerate(rows)])


def alike(labels):
    """For every two nets, whether they have the same label."""
    return (labels[:, np.newaxis] == labels).tolist()


@pytest.mark.parametrize(
    "other",
    [
        {"net.hidden": "(20,)"},
        {"optimizer.lr": 0.2},
        {"stop.loss_below": 0.1},
        {"at": "met+10"},
        {"seed": 1},
        {"study": "another"},
    ],
)
def test_nets_that_differ_in_anything_else_are_not_compared(other):
    some = along(table({"batch": 8}, {"batch": 16}, {"batch": 16} | other), "batch")
    same = [[True, True, False], [True, True, False], [False, False, True]]
    assert alike(some.settings) == same


@pytest.mark.parametrize(
    "later", [{"stop.epochs": 400}, {"stop.extra_epochs": 60}, {"rescaling.alpha": 2.0}]
)
def test_what_comes_after_the_rule_is_met_makes_no_difference(later):
    some = along(table({"batch": 8}, {"batch": 16} | later), "batch")
    assert alike(some.settings) == [[True, True], [True, True]]


def test_values_are_counted_in_the_order_of_the_configuration():
    """This holds for values that are not numbers, too: 9 comes before 16, 16 before `full`."""
    nets_of = [(9, 0), (16, 0), ("full", 0), (16, 1), (9, 1)]
    rows = [{"batch": value, "seed": seed} for value, seed in nets_of]
    assert along(table(*rows), "batch").values.tolist() == [0, 1, 2, 1, 0]


def test_nets_with_the_same_value_share_a_label_unless_of_another_study():
    by = [{"optimizer.name": name, "data.attack_size": n} for name in "ab" for n in (0, 10)]
    some = along(table(*by, by[0] | {"study": "another"}, sweep="optimizer"), "optimizer")
    assert alike(some.values) == [[a == b for b in "aabbc"] for a in "aabbc"]


def test_in_the_crossed_design_all_nets_of_a_seed_are_compared():
    points = [
        {"batch": b, "optimizer.lr": lr, "seed": s} for b in (8, 9) for lr in (1, 2) for s in (0, 1)
    ]
    some = table(*points, sweep="crossed")
    seeds = [point["seed"] for point in points]
    assert alike(crossed(some).settings) == [[a == b for b in seeds] for a in seeds]
    assert len(set(crossed(some).values)) == 4


def test_a_factor_of_the_crossed_design_is_varied_with_all_else_the_same():
    points = [
        {"batch": b, "optimizer.lr": lr, "penalty.coefficient": 0.1}
        for b in (8, 9)
        for lr in (1, 2)
    ]
    found = factors(table(*points, sweep="crossed"))
    assert [*found] == ["batch", "optimizer.lr"]
    rates = [1, 2, 1, 2]
    assert alike(found["batch"].settings) == [[a == b for b in rates] for a in rates]


def measured(sweep, run, moments):
    """A net whose weight norm is the number of its moment."""
    others = ("distance", "path_norm", "normalized_margin_tenth", "train_error", "test_error")
    norms = baselines(0.0, 0.0, 0.0) | dict.fromkeys(others, 0.0)
    rows = [
        norms | {"at": at, "epoch": 60 + place, "weight_norm": place}
        for place, at in enumerate(moments)
    ]
    return {"sweep": sweep, "run": run, "seed": 0}, {"norms_summary": rows, "outcomes": ended(60)}


def test_a_net_is_a_training_when_it_met_its_rule_except_along_moments():
    moments = ["met+0", "met+10", "final"]
    found = nets(material_of([measured("batch", "a", moments), measured("beyond", "b", moments)]))
    assert found.groupby("sweep")[["at", "epochs"]].agg(list).T.to_dict() == {
        "batch": {"at": ["met+0"], "epochs": [60]},
        "beyond": {"at": moments, "epochs": [60, 61, 62]},
    }


def test_gaps_of_equally_many_images_are_equal():
    """The errors are those of 2,000 images; in floating point 0.1035 - 0.002 is not 0.1015."""
    nets_of = [measured("batch", run, ["final"]) for run in "ab"]
    for (_, tables), wrong in zip(nets_of, ((0.0, 0.1015), (0.002, 0.1035)), strict=True):
        tables["norms_summary"][0] |= dict(zip(("train_error", "test_error"), wrong, strict=True))
    assert nets(material_of(nets_of))["gap"].tolist() == [0.1015, 0.1015]


def test_a_full_batch_is_one_setting_whatever_the_number_of_images():
    """Networks of a data-size axis with full batches are compared with each other."""
    of_sizes = []
    for run, size in zip("ab", (100, 200), strict=True):
        point, tables = measured("size", run, ["final"])
        full = {"data.train_size": size, "batch": size, "full_batch": True}
        of_sizes.append((point | full, tables))
    some = along(nets(material_of(of_sizes)), "size")
    assert alike(some.contexts) == [[True, True], [True, True]]
    assert alike(some.values) == [[True, False], [False, True]]


def test_a_training_that_ends_with_its_rule_met_it_at_the_end():
    found = nets(material_of([measured("batch", "a", ["final"])]))
    assert found[["at", "study", "weight_norm"]].to_numpy().tolist() == [["met+0", "atlas", 0]]


def test_networks_that_differ_in_a_setting_that_is_not_asked_about_are_no_repeats():
    """Example: SAM and ASAM with the same radius, in a sweep of both along the radius."""
    gaps = pd.DataFrame({"gap": [0.1, 0.3, 0.2, 0.6]})
    some = Along(
        gaps, np.array([0, 1, 0, 1]), contexts=np.array([0, 0, 1, 1]), values=np.zeros(4, int)
    )
    np.testing.assert_allclose(with_repeated(some).nets[REPEATED], [0.3, 0.1, 0.6, 0.2])
