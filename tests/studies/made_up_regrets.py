"""Tables of the study `mystery`, made up as in `made_up`: a row for each net at zero error.

The more wrong labels a net learnt, the larger its regrets.
"""

from itertools import product

import numpy as np
from side_by_side import joined, without_rows

MET = 60
FACTORS = (0.25, 1.0, 4.0)
RADII = np.array([1e-3, 1e-2, 1e-1, 1.0])


def taken(name, measure, rng, strength, met):
    """The tables of a net, of the measure that the study calls so."""
    attack = strength.get("data.attack_size", 0.0) + rng.normal(0, 0.03)
    factors = FACTORS if name.startswith("scaled") else (1.0,)
    tables = MEASURES[measure](rng, attack, factors)
    at = {"at": "met+0", "epoch": MET}
    told = {table: rows if met else without_rows(rows) for table, rows in tables.items()}
    return {table: joined([(at, rows)]) for table, rows in told.items()}


def regret(rng, attack, factors):
    size = np.exp(attack)
    summary = [
        {
            **local(size * factor, rng),
            "factor": factor,
            "root_mean_square": 1.1 * size * factor,
            "loss": 0.1 * size,
            "gradient_norm": 0.2 * size,
            "train_error": 0.0,
            "test_error": np.clip(0.1 + 0.3 * attack, 0, 1),
        }
        for factor in factors
    ]
    ball = [
        {
            **local(size / (1 + damping), rng),
            "factor": factor,
            "damping": damping,
            "residual": 1e-12,
            "iterations": 1,
            "converged": rng.random() < 0.9,
        }
        for factor, damping in product(factors, (0.0, 0.1))
    ]
    return {"summary": summary, "kl_ball": ball}


def local(size, rng):
    row = {"regret": 0.9 * size, "dissimilarity": rng.uniform(0.7, 1), "norm": size}
    return row | {f"{name}_error": 0.05 * value for name, value in row.items()}


def contrastive_flatness(rng, attack, factors):
    rows = [
        {
            "factor": factor,
            "flatness": flatness,
            "of_minibatches": 1.3 * 10 * factor,
            "of_mean": 10 * factor,
            "contrast": 1.3 + 0.2 * attack,
            "contrast_error": 0.05,
            "residual": 1e-9,
            "iterations": 20,
            "converged": rng.random() < 0.9,
        }
        for factor, flatness in product(factors, ("trace", "spectral_norm", "sharpness"))
    ]
    return {"summary": rows}


def true_regret(rng, attack, factors):
    formula = 0.1 * RADII * np.exp(attack)
    rows = {
        "epsilon": RADII,
        "true_regret": formula * (1 - 0.3 * RADII),
        "formula": formula,
        "ratio": 1 - 0.3 * RADII,
        "residual": 1e-5,
        "iterations": 10,
        "converged": RADII < 1,
    }
    return {"summary": rows, "pairs": {"pair": 1, **rows}}


def regret_slice(rng, attack, factors):
    x, y = (one.ravel() for one in np.meshgrid(*[np.linspace(-1.25, 1.25, 7)] * 2))
    surface = {"x": x, "y": y, "f1": 1 + x, "f2": 1 + 0.6 * x + 0.8 * y}
    places = {"x": [-1.0, -0.6], "y": [0.0, -0.8]}
    stars = {
        "of": ["f1", "f2"],
        "epsilon": 0.5,
        **places,
        **{f"{axis}_formula": at for axis, at in places.items()},
        "f1": [0.0, 0.4],
        "f2": [0.4, 0.0],
        "residual": 1e-5,
        "iterations": 3,
        "converged": True,
    }
    return {"surface": surface, "stars": stars}


MEASURES = {
    function.__name__: function
    for function in (regret, contrastive_flatness, true_regret, regret_slice)
}
