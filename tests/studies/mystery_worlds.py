"""Made-up tables of the study `mystery`, in a world where the post is right and where it is wrong.

Each net has a test error. Every measure rises with it step by step, or is in no order.
"""

from functools import cache
from itertools import product

import numpy as np
from made_up_regrets import FACTORS, contrasts, regrets, shrinking
from side_by_side import side_by_side

from flatlas.evidence.material import Material

RIGHT, WRONG = True, False
SWEEPS = {
    "fig2": ["solution"],
    "fig3": ["batch", "sgd", "adam", "entropy_sgd"],
    "fig4": ["solution"],
}
FIGURES = tuple(SWEEPS)
STEPS = 6
# The place of a measure without order at each step of the test error: ρ = 0.03.
NONE = (2, 4, 0, 5, 1, 3)
RADII = np.array([0.01, 0.1, 1.0])


@cache
def world(right, figure, seeds=5):
    """The material of one figure. It is cached: don't change it."""
    parts = {}
    steps = range(STEPS if figure == "fig3" else 1)
    for sweep, step, seed in product(SWEEPS[figure], steps, range(seeds)):
        point = {"sweep": sweep, "run": f"{sweep}-{step}", "seed": seed}
        ended = {"reason": "rule met", "met_epoch": [60], "converged": True}
        for measure, tables in MEASURES[figure](right, step, seed).items():
            for table, rows in tables.items():
                parts.setdefault(f"{measure}_{table}", []).append((point | {"at": "met+0"}, rows))
        parts.setdefault("outcomes", []).append((point, ended))
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


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


MEASURES = {"fig2": in_small_balls, "fig3": against_error, "fig4": scaled}
