"""Measures of the training set S leave out the images whose label was changed."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from solutions import make_solution

from flatlas.errors import FlatlasError
from flatlas.measures import measure

OPTIONS = [
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


@pytest.mark.parametrize(("name", "options"), OPTIONS)
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


@pytest.mark.parametrize(("name", "options"), OPTIONS[:5])
def test_a_training_set_without_images_is_refused(name, options):
    solution = make_solution("biases")
    solution.clean[:] = False
    with pytest.raises(FlatlasError, match="none of the 40 training images of seed 0"):
        measure(name, solution, options)
