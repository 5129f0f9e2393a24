"""Made-up tables of the study `mystery`, in a world where the post is right and where it is wrong.

Each net has a test error. Every measure rises with it step by step, or is in no order.
"""

from functools import cache
from itertools import product

import numpy as np
from declared import ended
from side_by_side import material_of

RIGHT, WRONG = True, False
SWEEPS = {
    "fig2": ["solution"],
    "fig3": ["batch", "sgd", "adam", "entropy_sgd"],
    "fig4": ["solution"],
}
FIGURES = tuple(SWEEPS)
STEPS = 6
FACTORS = (0.25, 1.0, 4.0)
DAMPINGS = (0.0, 0.1)
FLATNESS = ("trace", "spectral_norm", "sharpness")
# The place of a measure without order at each step of the test error: ρ = 0.03.
NONE = (2, 4, 0, 5, 1, 3)
RADII = np.array([0.01, 0.1, 1.0])


@cache
def world(right, figure, seeds=5):
    """The material of one figure. It is cached: don't change it."""
    steps = range(STEPS if figure == "fig3" else 1)
    nets = []
    for sweep, step, seed in product(SWEEPS[figure], steps, range(seeds)):
        point = {"sweep": sweep, "run": f"{sweep}-{step}", "seed": seed}
        nets.append((point, {"outcomes": ended(60)}))
        for measure, tables in MEASURES[figure](right, step, seed).items():
            named = {f"{measure}_{table}": rows for table, rows in tables.items()}
            nets.append((point | {"at": "met+0"}, named))
    return material_of(nets)


def chance(seed):
    """The small difference between realizations."""
    return 0.01 * np.random.default_rng(seed).normal()


def in_small_balls(right, step, seed):
    off = [0.001, 0.05, 0.4] if right else [0.4, 0.05, 0.02]
    return {"true_regret": {"summary": shrinking(np.array(off) * (1 + chance(seed)), RADII)}}


def against_error(right, step, seed):
    """Flatness alone says nothing where the post is right, and everything where it is wrong."""
    measured = np.exp((step if right else NONE[step]) + chance(seed))
    alone = np.exp((NONE[step] if right else step) + chance(seed))
    size = {1.0: measured}
    return {
        "regret": regrets(size, size, error=0.1 + 0.05 * step + 0.01 * chance(seed)),
        "contrast": contrasts({1.0: (alone, measured)}),
    }


def scaled(right, step, seed):
    """R as α^½ where the post is right; where it is wrong, the regrets in a KL-ball."""
    changes = {factor: factor ** (0.5 + chance(seed)) for factor in FACTORS}
    same = dict.fromkeys(FACTORS, 1.0)
    flatness = {factor: (factor if right else factor**0.01, factor**0.1) for factor in FACTORS}
    return {
        "scaled_regret": regrets(*((changes, same) if right else (same, changes)), error=0.1),
        "scaled_contrast": contrasts(flatness),
    }


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


def contrasts(of_factor):
    """The flatness of the mean loss and its contrast by factor, the same by each flatness."""
    search = {"residual": 1e-9, "iterations": 20, "converged": True}
    rows = [
        search | {"factor": factor, "flatness": flatness, "of_mean": mean, "contrast": contrast}
        for flatness, (factor, (mean, contrast)) in product(FLATNESS, of_factor.items())
    ]
    return {"summary": [row | {"of_minibatches": 1.3, "contrast_error": 0.05} for row in rows]}


def shrinking(off, radii, size=1.0):
    """The true regret is less than the formula by the share `off`."""
    formula = 0.1 * radii * size
    rows = {"epsilon": radii, "true_regret": formula * (1 - off), "formula": formula}
    return rows | {"ratio": 1 - off, "residual": 1e-5, "iterations": 10, "converged": True}


MEASURES = {"fig2": in_small_balls, "fig3": against_error, "fig4": scaled}
