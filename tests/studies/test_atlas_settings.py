"""Which nets of the atlas are compared along an axis, which are one choice, and which columns."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from flatlas.plan.measure_specs import MEASURES
from flatlas.studies.atlas.nets import settings, values
from flatlas.studies.atlas.quantities import QUANTITIES, SURVIVAL, TABLES

STUDIES = Path(__file__).resolve().parents[2] / "config" / "studies"
# The columns of what is computed from others.
FROM = {
    "norm_sharpness": {"sharpness"},
    "product": {"log10_product", "positive"},
    "margin": {"normalized_margin_tenth"},
    "prior": {"log10_p"},
    "kl_regret": {"regret", "damping"},
    "pca_flatness": {"flatness"},
}


def nets(*rows):
    point = {"sweep": "batch", "of": "made.batch", "study": "made", "seed": 0, "gap": 0.1}
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
        {"seed": 1},
        {"study": "another"},
    ],
)
def test_nets_that_differ_in_anything_else_are_not_compared(other):
    table = nets({"batch": 8}, {"batch": 16}, {"batch": 16} | other)
    same = [[True, True, False], [True, True, False], [False, False, True]]
    assert alike(settings(table, "batch")) == same


@pytest.mark.parametrize(
    "later", [{"stop.epochs": 400}, {"stop.extra_epochs": 60}, {"rescaling.alpha": 2.0}]
)
def test_what_comes_after_the_rule_is_met_makes_no_difference(later):
    table = nets({"batch": 8}, {"batch": 16} | later)
    assert alike(settings(table, "batch")) == [[True, True], [True, True]]


def test_a_value_is_one_choice_however_often_it_was_taken():
    by = [{"optimizer.name": name, "data.attack_size": n} for name in "ab" for n in (0, 10)]
    labels = values(nets(*by, by[0] | {"study": "another"}), "optimizer")
    assert alike(labels) == [[a == b for b in "aabbc"] for a in "aabbc"]


def declared(table):
    """The columns of a table of the study, `<measure>_<table>`."""
    name, _, own = table.partition("_")
    said = measure_of("atlas", name)
    return MEASURES[said].tables[own]


def measure_of(study, name):
    """The measure behind a study's name for it."""
    said = yaml.safe_load((STUDIES / f"{study}.yaml").read_text())["measures"][name]
    return measure_of(*said["borrowed"].split(".")) if "borrowed" in said else said["measure"]


@pytest.mark.parametrize("places", [TABLES, SURVIVAL], ids=["atlas", "survival"])
def test_every_quantity_is_in_a_column_that_a_measure_declares(places):
    measured = {part: table for part, table in places.items() if part != "history"}
    found = {part: declared(table) for part, table in measured.items()}
    for name, quantity in QUANTITIES.items():
        if quantity.part in found:
            assert FROM.get(name, {name}) <= found[quantity.part].keys(), name
            assert not quantity.searched or "converged" in found[quantity.part], name
    assert "weight_norm" in found["norms"]
