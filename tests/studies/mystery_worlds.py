"""Made-up tables of the study `mystery`, in a world where the post is right and where it is wrong.

Each net has a test error. Every measure rises with it step by step, or is in no order.
"""

from functools import cache
from itertools import product

import numpy as np
from declared import declared, ended
from side_by_side import material_of

STUDY = declared("mystery")
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
    for sweep, step, seed in product(STUDY["figures"][figure]["sweeps"], steps, range(seeds)):
        # Where the post is wrong, small minibatches have the larger error.
        batch = 8 * 2 ** (step if right else STEPS - step)
        point = {"sweep": sweep, "run": f"{sweep}-{step}", "seed": seed, "batch": batch}
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
    ratio = 1 - np.array(off) * (1 + chance(seed))
    rows = regrets({1.0: 1.0 if right else 1.2}, {1.0: 1.0}, error=0.1)
    rows["summary"][0] |= {"regret": 1.0 if right else 0.5} | {"root_mean_square": 1.21}
    return {
        "true_regret": {"summary": {"epsilon": RADII, "ratio": ratio, "converged": True}},
        "regret": rows,
    }


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
    """R as α^½ where the post is right; where it is wrong, the regrets in a KL-ball.

    Contrastive flatness then moves more than flatness itself.
    """
    changes = {factor: factor ** (0.5 + chance(seed)) for factor in FACTORS}
    same = dict.fromkeys(FACTORS, 1.0)
    flatness = {
        factor: (factor, factor**0.004) if right else (factor**0.01, factor**0.1)
        for factor in FACTORS
    }
    return {
        "scaled_regret": regrets(*((changes, same) if right else (same, changes)), error=0.1),
        "scaled_contrast": contrasts(flatness),
    }


def regrets(in_box, in_ball, error):
    """Sizes by factor: in the Euclidean ball, and in the KL-ball."""
    net = {"root_mean_square": 1.1, "loss": 0.1, "gradient_norm": 0.2, "train_error": 0.0}
    net["test_error"] = error
    return {
        "summary": [net | local(size) | {"factor": factor} for factor, size in in_box.items()],
        "kl_ball": [
            local(size) | {"factor": factor, "damping": damping, "converged": True}
            for damping, (factor, size) in product(DAMPINGS, in_ball.items())
        ],
    }


def local(size):
    return {"regret": 0.9 * size, "regret_error": 0.05, "dissimilarity": 0.8 * size, "norm": size}


def contrasts(of_factor):
    """The flatness of the mean loss and its contrast by factor, the same by each flatness."""
    rows = [
        {"factor": factor, "flatness": flatness, "of_mean": mean, "contrast": contrast}
        for flatness, (factor, (mean, contrast)) in product(FLATNESS, of_factor.items())
    ]
    return {"summary": [row | {"contrast_error": 0.05, "converged": True} for row in rows]}


MEASURES = {"fig2": in_small_balls, "fig3": against_error, "fig4": scaled}
