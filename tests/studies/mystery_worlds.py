"""Made-up tables of the study `mystery`, in a world where the post is right and where it is not.

Each net has a test error, and every measure goes with it step by step, or in no order at all.
"""

from functools import cache
from itertools import product

import numpy as np
from side_by_side import side_by_side

from flatlas.evidence.material import Material

RIGHT, WRONG = True, False
SWEEPS = {
    "fig2": ["solution"],
    "fig3": ["batch", "sgd", "adam", "entropy_sgd"],
    "fig4": ["solution"],
}
STEPS = 6
# Which step a measure has come to at each step of the test error: ρ = 0.03.
NONE = (2, 4, 0, 5, 1, 3)
FACTORS = (0.25, 1.0, 4.0)
DAMPINGS = (0.0, 0.1)
KINDS = ("sharpness", "spectral_norm", "trace")
RADII = (0.01, 0.1, 1.0)


@cache
def world(right, figure, seeds=5):
    """The material of one figure, which nobody may change."""
    parts = {}
    for sweep in SWEEPS[figure]:
        for step in range(STEPS if figure == "fig3" else 1):
            for seed in range(seeds):
                stands = {"sweep": sweep, "run": f"{sweep}-{step}", "seed": seed}
                for name, rows in TABLES[figure](right, step, seed).items():
                    at = {"at": "met+0", "epoch": 60}
                    parts.setdefault(name, []).append((at | stands, rows))
                ended = {"reason": "rule met", "met_epoch": [60], "epoch": 60, "converged": True}
                parts.setdefault("outcomes", []).append((stands, ended))
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


def chance(seed):
    """By so little realizations differ."""
    return 0.01 * np.random.default_rng(seed).normal()


def shrinking(right, step, seed):
    off = [0.001, 0.05, 0.4] if right else [0.4, 0.05, 0.02]
    ratio = 1 - np.array(off) * (1 + chance(seed))
    rows = {"epsilon": RADII, "ratio": ratio, "converged": True}
    return {"true_regret_summary": rows}


def local(right, step, seed):
    error = 0.1 + 0.05 * step + 0.01 * chance(seed)
    measured = np.exp((step if right else NONE[step]) + chance(seed))
    names = ("regret", "norm", "dissimilarity")
    summary = {**dict.fromkeys(names, measured), "factor": [1.0], "test_error": error}
    ball = [
        {"factor": 1.0, "damping": damping, "regret": measured, "converged": True}
        for damping in DAMPINGS
    ]
    # Flatness alone says nothing where the post is right, and all where it is not.
    alone = np.exp((NONE[step] if right else step) + chance(seed))
    kinds = [
        {"factor": 1.0, "flatness": kind, "contrast": measured, "of_mean": alone, "converged": True}
        for kind in KINDS
    ]
    return {"regret_summary": summary, "regret_kl_ball": ball, "contrast_summary": kinds}


def scaled(right, step, seed):
    """R as α^½ where the post is right; elsewhere the regrets in a KL-ball do so."""
    changes = [factor ** (0.5 + chance(seed)) for factor in FACTORS]
    same = [1.0 for _ in FACTORS]
    summary = {"factor": FACTORS, "regret": changes if right else same}
    ball = [
        {"factor": factor, "damping": damping, "regret": regret, "converged": True}
        for damping in DAMPINGS
        for factor, regret in zip(FACTORS, same if right else changes, strict=True)
    ]
    kinds = [
        {
            "factor": factor,
            "flatness": kind,
            "of_mean": factor if right else factor**0.01,
            "contrast": factor**0.1,
            "converged": True,
        }
        for kind, factor in product(KINDS, FACTORS)
    ]
    return {
        "scaled_regret_summary": summary,
        "scaled_regret_kl_ball": ball,
        "scaled_contrast_summary": kinds,
    }


TABLES = {"fig2": shrinking, "fig3": local, "fig4": scaled}
