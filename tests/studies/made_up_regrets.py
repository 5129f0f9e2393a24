"""Made-up tables of the study `mystery`: regrets and flatness of a net at each α-scaling.

They are drawn as they are; worlds in which the post is right or wrong give their own sizes.
"""

from itertools import product

import numpy as np
from side_by_side import joined, without_rows

MET = 60
FACTORS = (0.25, 1.0, 4.0)
DAMPINGS = (0.0, 0.1)
FLATNESS = ("trace", "spectral_norm", "sharpness")
RADII = np.array([1e-3, 1e-2, 1e-1, 1.0])


def taken(name, measure, rng, strength, met):
    """The tables of a net at zero error, of the measure that the study calls so.

    The more wrong labels a net learnt, the larger are its regrets.
    """
    attack = strength.get("data.attack_size", 0.0) + rng.normal(0, 0.03)
    factors = FACTORS if name.startswith("scaled") else (1.0,)
    at = {"at": "met+0", "epoch": MET}
    tables = MEASURES[measure](rng, attack, factors)
    return {
        table: joined([(at, rows if met else without_rows(rows))]) for table, rows in tables.items()
    }


def regret(rng, attack, factors):
    size, error = np.exp(attack), np.clip(0.1 + 0.3 * attack, 0, 1)
    tables = regrets({one: size * one for one in factors}, dict.fromkeys(factors, size), error)
    for row in tables["kl_ball"]:
        row["converged"] = rng.random() < 0.9
    return tables


def regrets(in_box, in_ball, error):
    """Sizes by factor: in the Euclidean ball, and in the KL-ball."""
    net = {"root_mean_square": 1.1, "loss": 0.1, "gradient_norm": 0.2, "train_error": 0.0}
    net["test_error"] = error
    search = {"residual": 1e-12, "iterations": 1, "converged": True}
    return {
        "summary": [net | local(size) | {"factor": factor} for factor, size in in_box.items()],
        "kl_ball": [
            search | local(size) | {"factor": factor, "damping": damping}
            for damping, (factor, size) in product(DAMPINGS, in_ball.items())
        ],
    }


def local(size):
    row = {"regret": 0.9 * size, "dissimilarity": 0.8 * size, "norm": size}
    return row | {f"{name}_error": 0.05 * value for name, value in row.items()}


def contrastive_flatness(rng, attack, factors):
    tables = contrasts({one: (10 * one, 1.3 + 0.2 * attack) for one in factors})
    for row in tables["summary"]:
        row["converged"] = rng.random() < 0.9
    return tables


def contrasts(of_factor):
    """The flatness of the mean loss and its contrast by factor, the same by each flatness."""
    search = {"residual": 1e-9, "iterations": 20, "converged": True}
    rows = [
        search | {"factor": factor, "flatness": flatness, "of_mean": mean, "contrast": contrast}
        for flatness, (factor, (mean, contrast)) in product(FLATNESS, of_factor.items())
    ]
    return {"summary": [row | {"of_minibatches": 1.3, "contrast_error": 0.05} for row in rows]}


def true_regret(rng, attack, factors):
    rows = shrinking(0.3 * RADII, RADII, np.exp(attack)) | {"converged": RADII < 1}
    return {"summary": rows, "pairs": {"pair": 1, **rows}}


def shrinking(off, radii, size=1.0):
    """The true regret is less than the formula by the share `off`."""
    formula = 0.1 * radii * size
    rows = {"epsilon": radii, "true_regret": formula * (1 - off), "formula": formula}
    return rows | {"ratio": 1 - off, "residual": 1e-5, "iterations": 10, "converged": True}


def regret_slice(rng, attack, factors):
    x, y = (one.ravel() for one in np.meshgrid(*[np.linspace(-1.25, 1.25, 7)] * 2))
    places = {"x": [-1.0, -0.6], "y": [0.0, -0.8]}
    stars = {"of": ["f1", "f2"], "epsilon": 0.5, "f1": [0.0, 0.4], "f2": [0.4, 0.0], **places}
    stars |= {f"{axis}_formula": at for axis, at in places.items()}
    stars |= {"residual": 1e-5, "iterations": 3, "converged": True}
    return {"surface": {"x": x, "y": y, "f1": 1 + x, "f2": 1 + 0.6 * x + 0.8 * y}, "stars": stars}


MEASURES = {
    function.__name__: function
    for function in (regret, contrastive_flatness, true_regret, regret_slice)
}
