"""Which nets of the atlas are compared along an axis, and which have the same value there."""

import numpy as np
import pandas as pd
import pytest

from flatlas.studies.atlas.nets import settings, values


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


def test_nets_with_the_same_value_share_a_label_unless_of_another_study():
    by = [{"optimizer.name": name, "data.attack_size": n} for name in "ab" for n in (0, 10)]
    labels = values(nets(*by, by[0] | {"study": "another"}), "optimizer")
    assert alike(labels) == [[a == b for b in "aabbc"] for a in "aabbc"]
