"""Every measure returns the tables that it declares, and an empty one has their columns."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from recordings import with_recording

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.measures import duality, measure, orthant, regret_slice
from flatlas.measures.tables import joined
from flatlas.plan.initializations import HeNormal
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.measurements.measurement import Measurement, columns
from flatlas.store.tables import read_table, write_table

ALONG = {"layer": "fc2", "directions": 3, "profiles": [1]}
OPTIONS = {
    "test_images": {"sizes": [10, 20]},
    "scaled_shift": {"scales": [0.5]},
    "scale_invariance": {"factors": [1.0, 2.0]},
    "minibatch_noise": {"batch": 8, "minibatches": 5},
    "convolution_duality": {"layer": "conv2"},
    "orthant": {"sizes": [2]},
    "sharpness": {"box": 1e-3, "epochs": 3},
    "hessian": {"top": 3},
    "spectral_density": {"top": 3, "probes": 2, "steps": 10},
    "norm_scaling": {"factors": [1.0, 2.0], "top": 2},
    "trajectory_pca": {"components": [1], "epochs": 3},
    "valley": ALONG,
    "minibatch_losses": {**ALONG, "batch": 8, "minibatches": 4},
    "active_temperature": {**ALONG, "batch": 8, "lr": 0.1},
    "first_mode": {"images": 2},
    "forgetting": {
        "task": [1], "strengths": [1.0], "directions": [2], "epochs": 2, "batch": 8, "lr": 0.1,
    },
    "regret": {"batch": 8, "pairs": 3},
    "true_regret": {"batch": 8, "pairs": 1, "radii": [0.01]},
    "regret_slice": {"batch": 8, "radius": 0.1},
    "contrastive_flatness": {"batch": 8, "minibatches": 2, "box": 1e-3},
    "survival": {"top": 3, "box": 1e-3, "batch": 8, "pairs": 3, "minibatches": 2},
}  # fmt: skip
BINARY = ("gp_prior", "orthant", "boolean_prior", "survival")
KINDS = {float: "f", int: "i", bool: "b", str: "O"}


@pytest.fixture
def solution_for(make_solution, monkeypatch):
    """A solution that a measure can be taken of."""
    monkeypatch.setattr(orthant, "SAMPLES", 1000)
    monkeypatch.setattr(regret_slice, "POINTS", 3)

    def made(name):
        if name in BINARY:
            found = make_solution("biases", outputs=1, images=16)
            found.net.init = HeNormal(scheme="he_normal", bias_std=1.0)
            functions = pd.DataFrame({"function": ["0000"], "count": 1, "draws": 2})
            return replace(found, functions=functions.assign(probability=0.5, standard_error=0.3))
        if name == "convolution_duality":
            return make_solution("two_convolutions")
        return replace(with_recording(make_solution("two_hidden"), "fc2"), second_task=TASK)

    return made


def second_task():
    labels, images = np.tile([1, 2], (1, 6)), np.random.default_rng(0).normal(size=(1, 12, 1, 6, 6))
    return Samples((0,), images, labels, np.ones_like(labels, dtype=bool), images, labels)


TASK = second_task()


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_returns_what_it_declares(solution_for, name):
    declared = MEASURES[name]
    asked = {"layer": "fc2"} if "layer" in declared.model_fields and name != "survival" else {}
    options = declared.model_validate({"measure": name, **asked, **OPTIONS.get(name, {})})
    found = measure(name, solution_for(name), options.resolved())
    kinds = {
        table: {column: rows[column].dtype.kind for column in rows} for table, rows in found.items()
    }
    assert all(len(rows) for rows in found.values())
    assert kinds == {
        table: {column: KINDS[kind] for column, kind in own.items()}
        for table, own in declared.tables.items()
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.drop(columns="gap"), r"'directions' of duality .* Missing: gap\."),
        (lambda table: table.assign(gaps=1.0), r"'directions' of duality .* Unknown: gaps\."),
        (lambda table: table.assign(gap="1"), r"'directions' of duality declares 'gap' float"),
    ],
)
def test_other_columns_than_declared_are_refused(make_solution, monkeypatch, change, said):
    taken = duality.measure

    def changed(solution, options):
        tables = taken(solution, options)
        return tables | {"directions": change(tables["directions"])}

    monkeypatch.setattr(duality, "measure", changed)
    options = {"layer": "fc2", "directions": "hessian", "sharp": "steepest"}
    with pytest.raises(FlatlasError, match=said):
        measure("duality", make_solution("two_hidden"), options)


def test_another_table_than_declared_is_refused(make_solution, monkeypatch):
    monkeypatch.setattr(duality, "measure", lambda solution, options: {"direction": None})
    with pytest.raises(FlatlasError, match=r"Missing: directions, summary\. Unknown: direction\."):
        measure("duality", make_solution("two_hidden"), {})


def test_a_table_without_rows_has_the_columns_and_types_of_one_with_rows(tmp_path):
    own = columns(function=str, rank=int, width=float, converged=bool)
    place = {"seed": 0, "at": "final", "epoch": 3}
    row = pd.DataFrame([place | {"function": "0f", "rank": 1, "width": 0.5, "converged": True}])
    for name, parts in {"some": [row, row], "none": []}.items():
        write_table(tmp_path / f"{name}.parquet", joined(parts, own))
    some, none = (read_table(tmp_path / f"{name}.parquet") for name in ("some", "none"))
    assert len(none) == 0 and len(some) == 2
    assert none.dtypes.to_dict() == some.dtypes.to_dict()
    assert [some[name].dtype.kind for name in own] == ["O", "f", "f", "b"]


def test_a_measure_without_tables_is_refused_when_it_is_declared():
    with pytest.raises(FlatlasError, match="Trace declares no tables"):
        type("Trace", (Measurement,), {"__annotations__": {"measure": str}, "__module__": "own"})


def test_a_type_that_no_column_has_is_refused_when_it_is_declared():
    with pytest.raises(FlatlasError, match="'trace' is of type list"):
        columns(layer=str, trace=list)
