"""Small options for every measure, and a solution that it can be taken of."""

from dataclasses import replace

import numpy as np
import pandas as pd
from solutions import make_solution

from flatlas.data.samples import Samples
from flatlas.plan.measure_specs import MEASURES

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
    "adaptive_sharpness": {"starts": 2, "steps": 5, "pairs": 2},
    "pac_bayes_flatness": {"pairs": 2},
    "learning_coefficient": {"chains": 2, "steps": 4, "burn_in": 2, "leaps": 1},
    "regret": {"batch": 8, "pairs": 3},
    "true_regret": {"batch": 8, "pairs": 1, "radii": [0.01]},
    "regret_slice": {"batch": 8, "radius": 0.1},
    "contrastive_flatness": {"batch": 8, "minibatches": 2, "box": 1e-3},
    "survival": {"top": 3, "box": 1e-3, "batch": 8, "pairs": 3, "minibatches": 2},
}  # fmt: skip
BINARY = ("gp_prior", "orthant", "boolean_prior", "survival")


def options_of(name, **changes):
    declared = MEASURES[name]
    layer = {"layer": "fc2"} if "layer" in declared.model_fields and name != "survival" else {}
    asked = {"measure": name, **layer, **OPTIONS.get(name, {}), **changes}
    return declared.model_validate(asked).resolved()


def solution_for(name):
    """A solution with everything that the measure needs besides the weights."""
    if name in BINARY:
        functions = pd.DataFrame({"function": ["0000"], "count": 1, "draws": 2})
        found = make_solution("he", outputs=1, images=16)
        return replace(found, functions=functions.assign(probability=0.5, standard_error=0.3))
    if name == "convolution_duality":
        return make_solution("two_convolutions")
    labels, images = np.tile([1, 2], (1, 6)), np.random.default_rng(0).normal(size=(1, 12, 1, 6, 6))
    task = Samples((0,), images, labels, np.ones_like(labels, dtype=bool), images, labels)
    return replace(make_solution("two_hidden", layer="fc2"), second_task=task)
