"""Made-up tables of the study `mystery`, in a world where the post is right and where it is wrong.

Each net has a test error. Every measure rises with it step by step, or is in no order.
"""

from functools import cache
from itertools import product

import numpy as np
from side_by_side import side_by_side

from flatlas.evidence.material import Material
from flatlas.studies.mystery.nets import FLATNESS, IN_BALL, OF_FLATNESS, SUMMARY

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
FACTORS = (0.25, 1.0, 4.0)
DAMPINGS = (0.0, 0.1)
RADII = (0.01, 0.1, 1.0)
EMPTY = dict.fromkeys((*SUMMARY, *IN_BALL, *OF_FLATNESS), np.nan) | {"converged": True}


@cache
def world(right, figure, seeds=5):
    """The material of one figure. It is cached: don't change it."""
    parts = {}
    steps = range(STEPS if figure == "fig3" else 1)
    for sweep, step, seed in product(SWEEPS[figure], steps, range(seeds)):
        stands = {"sweep": sweep, "run": f"{sweep}-{step}", "seed": seed}
        ended = {"reason": "rule met", "met_epoch": [60], "converged": True}
        tables = TABLES[figure](right, step, seed) | {"outcomes": ended}
        for name, rows in tables.items():
            parts.setdefault(name, []).append(({"at": "met+0", "epoch": 60} | stands, rows))
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


def chance(seed):
    """The small difference between realizations."""
    return 0.01 * np.random.default_rng(seed).normal()


def shrinking(right, step, seed):
    off = [0.001, 0.05, 0.4] if right else [0.4, 0.05, 0.02]
    ratio = 1 - np.array(off) * (1 + chance(seed))
    rows = {"epsilon": RADII, "ratio": ratio, "converged": True}
    return {"true_regret_summary": rows}


def local(right, step, seed):
    """Flatness alone says nothing where the post is right, and everything where it is wrong."""
    measured = np.exp((step if right else NONE[step]) + chance(seed))
    alone = np.exp((NONE[step] if right else step) + chance(seed))
    values = dict.fromkeys(("regret", "norm", "dissimilarity", "contrast"), measured)
    net = EMPTY | values | {"of_mean": alone, "test_error": 0.1 + 0.05 * step + 0.01 * chance(seed)}
    nets = [net | {"factor": 1.0}]
    return tables_of(nets, nets, nets, prefix="")


def scaled(right, step, seed):
    """R as α^½ where the post is right; where it is wrong, the regrets in a KL-ball."""
    regrets, balls, kinds = [], [], []
    for factor in FACTORS:
        change = factor ** (0.5 + chance(seed))
        flatness = {"of_mean": factor if right else factor**0.01, "contrast": factor**0.1}
        net = EMPTY | {"factor": factor}
        regrets.append(net | {"regret": change if right else 1.0})
        balls.append(net | {"regret": 1.0 if right else change})
        kinds.append(net | flatness)
    return tables_of(regrets, balls, kinds, prefix="scaled_")


def tables_of(regrets, balls, kinds, prefix):
    """The tables of these rows: of every damping and of every kind of flatness."""
    return {
        f"{prefix}regret_summary": regrets,
        f"{prefix}regret_kl_ball": [row | {"damping": one} for one in DAMPINGS for row in balls],
        f"{prefix}contrast_summary": [
            row | {"flatness": kind} for kind in FLATNESS for row in kinds
        ],
    }


TABLES = {"fig2": shrinking, "fig3": local, "fig4": scaled}
