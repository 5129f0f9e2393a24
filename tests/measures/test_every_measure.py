"""What holds for every measure: declared tables, refusals, and images with wrong labels."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from every_measure import options_of, solution_for
from solutions import make_solution

from flatlas.errors import FlatlasError
from flatlas.measures import duality, measure, orthant, regret_slice
from flatlas.measures.tables import joined
from flatlas.plan.columns import columns
from flatlas.plan.measure_specs import MEASURES
from flatlas.store.tables import read_table, write_table

KINDS = {float: "f", int: "i", bool: "b", str: "O"}


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_returns_the_declared_tables_and_the_same_ones_again(monkeypatch, name):
    monkeypatch.setattr(orthant, "SAMPLES", 1000)
    monkeypatch.setattr(regret_slice, "POINTS", 3)
    found, again = (measure(name, solution_for(name), options_of(name)) for _ in range(2))
    kinds = {
        table: {column: rows[column].dtype.kind for column in rows} for table, rows in found.items()
    }
    assert all(len(rows) for rows in found.values())
    assert kinds == {
        table: {name: KINDS[column.type] for name, column in declared.items()}
        for table, declared in MEASURES[name].tables.items()
    }
    assert all(again[table].equals(rows) for table, rows in found.items())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.drop(columns="gap"), r"'directions' of duality .* Missing: gap\."),
        (lambda table: table.assign(gaps=1.0), r"'directions' of duality .* Unknown: gaps\."),
        (lambda table: table.assign(gap="1"), r"'directions' of duality has 'gap' as .* float"),
        (None, r"Missing: directions, summary\. Unknown: direction\."),
    ],
)
def test_other_tables_or_columns_than_declared_are_refused(monkeypatch, change, said):
    taken = duality.measure

    def changed(solution, options):
        tables = taken(solution, options)
        if change is None:
            return {"direction": tables["directions"]}
        return tables | {"directions": change(tables["directions"])}

    monkeypatch.setattr(duality, "measure", changed)
    with pytest.raises(FlatlasError, match=said):
        measure("duality", make_solution("two_hidden"), options_of("duality"))


def test_a_table_without_rows_has_the_columns_and_types_of_one_with_rows(tmp_path):
    types = {"function": str, "rank": int, "width": float, "converged": bool}
    declared = columns(**{name: (kind, "any") for name, kind in types.items()})
    place = {"seed": 0, "at": "final", "epoch": 3}
    row = pd.DataFrame([place | {"function": "0f", "rank": 1, "width": 0.5, "converged": True}])
    for name, parts in {"some": [row, row], "none": []}.items():
        write_table(tmp_path / f"{name}.parquet", joined(parts, declared))
    some, none = (read_table(tmp_path / f"{name}.parquet") for name in ("some", "none"))
    assert len(none) == 0 and len(some) == 2
    assert none.dtypes.to_dict() == some.dtypes.to_dict()
    assert [some[name].dtype.kind for name in declared] == ["O", "f", "f", "b"]


TOO_LARGE = r"minibatches of 41 images .* may be 40 at most"
SAMPLED = {"kernel": "monte_carlo"}
HE = make_solution("he", 1)


def without_label_0():
    solution = make_solution("two_hidden")
    solution.labels[solution.labels == 0] = 1
    return solution


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("active_temperature", {"batch": 41}, TOO_LARGE),
        ("minibatch_losses", {"batch": 41}, TOO_LARGE),
        ("minibatch_noise", {"batch": 41}, TOO_LARGE),
        ("convolution_duality", {"layer": "fc1"}, r"'fc1' is not a convolution.*: conv1, conv2"),
        ("duality", {"layer": "fc9"}, "layer 'fc9' is no layer of this net.* fc1, fc2, fc3"),
        ("duality", {"layer": "fc3", "sharp": 19}, "sharp is 19, but the layer has 18 directions"),
        ("scale_invariance", {"layer": "fc3"}, r"layer 'fc3' is the last.*Allowed: fc1, fc2"),
        ("test_images", {"sizes": [10, 26]}, "asks for 26 test images, but only 25 are drawn"),
        ("trajectory_pca", {"components": [1, 55]}, "rank 55, but the trajectory has only 54"),
        ("orthant", {"sizes": [10, 42]}, "42 different images, but S and E have 41"),
    ],
)
def test_options_that_do_not_fit_are_refused(name, options, said):
    with pytest.raises(FlatlasError, match=said):
        measure(name, solution_for(name), options_of(name) | options)


@pytest.mark.parametrize(
    ("name", "solution", "options", "said"),
    [
        ("boolean_prior", HE, {}, r"data\.functions"),
        ("forgetting", make_solution("two_hidden", layer="fc2"), {}, "no images of a second task"),
        ("test_images", without_label_0(), {"sizes": [1, 25]}, "none of the first 1 test images"),
        ("duality", make_solution("convolutional"), {"layer": "conv1"}, "'conv1' is a convolution"),
        ("gp_prior", make_solution("biases", 3), {}, r"two values.*3 outputs"),
        ("gp_prior", make_solution("biases", 1), {}, "monte_carlo"),
        ("gp_prior", HE, SAMPLED, r"65 images of S and E.* none"),
        ("gp_prior", replace(HE, kernel=np.eye(54)), SAMPLED, "sampled one has 54"),
    ],
)
def test_a_solution_without_what_a_measure_needs_is_refused(name, solution, options, said):
    with pytest.raises(FlatlasError, match=said):
        measure(name, solution, options_of(name) | options)


ON_S = [
    ("norms", {}),
    ("hessian", {"top": 3, "tolerance": 1e-8, "probes": 2}),
    (
        "spectral_density",
        {"top": 3, "tolerance": 1e-8, "probes": 2, "steps": 20, "width": 0.02},
    ),
    (
        "regret",
        {"batch": 8, "pairs": 4, "dampings": (0.0, 0.1), "layer": "fc1", "factors": (1.0,)},
    ),
    *(
        ("sharpness", {"by": by, "box": 0.01, "batch": 8, "lr": 0.05, "epochs": 10})
        for by in ("sgd", "lbfgs", "corners")
    ),
]


@pytest.mark.parametrize(("name", "options"), ON_S)
def test_images_with_wrong_labels_change_nothing(name, options):
    solution = make_solution("biases")
    shown = replace(
        solution,
        inputs=torch.cat([solution.inputs, 3 * solution.inputs[:, :9]], 1),
        labels=torch.cat([solution.labels, solution.labels[:, 9:18]], 1),
        clean=torch.cat([solution.clean, torch.zeros_like(solution.clean[:, :9])], 1),
    )
    for table, expected in measure(name, solution, options).items():
        found = measure(name, shown, options)[table].drop(columns="residual", errors="ignore")
        expected = expected[found.columns].astype(float)
        np.testing.assert_allclose(found.astype(float), expected, rtol=1e-9)


@pytest.mark.parametrize(("name", "options"), ON_S[:5])
def test_a_training_set_without_images_is_refused(name, options):
    solution = make_solution("biases")
    solution.clean[:] = False
    with pytest.raises(FlatlasError, match="none of the 40 training images of seed 0"):
        measure(name, solution, options)
