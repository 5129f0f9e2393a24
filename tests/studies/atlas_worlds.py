"""Made-up tables of the study `atlas`, in a world where every measure does as it should, or not.

Runs of each axis stand step by step, and with them the gap. Where measures are right they go with
it, and no baseline does; where they are wrong they go against it. After an α-scaling they stay, or
do not.
"""

from functools import cache

import numpy as np
from side_by_side import side_by_side

from flatlas.evidence.atlas import AXES
from flatlas.evidence.material import Material

RIGHT, WRONG = True, False
STEPS = 6
KEYS = {
    "optimizer": "optimizer.name",
    "batch": "batch",
    "rate": "optimizer.lr",
    "decay": "penalty.coefficient",
    "init": "net.init.scale",
    "attack": "data.attack_size",
    "size": "data.per_class",
}
# In which order a baseline has the steps: τ = 0.07 with the gap.
NONE = (2, 4, 0, 5, 1, 3)


@cache
def world(right, figure, seeds=5):
    """The material of one figure, which nobody may change."""
    parts = {}
    for axis in AXES if figure != "fig3" else ["survivors"]:
        for step in range(STEPS):
            for seed in range(seeds):
                key = KEYS.get(axis, "data.attack_size")
                stands = {"sweep": axis, "of": f"made.{axis}", "run": f"{axis}-{step}"}
                stands |= {"seed": seed, key: str(step) if axis == "optimizer" else step}
                found = scaled(right, seed) if figure == "fig3" else measured(right, step, seed)
                ended = {"reason": "rule met", "met_epoch": 60, "epoch": 60, "converged": True}
                tables = {**found, "outcomes": [ended]}
                for name, rows in tables.items():
                    parts.setdefault(name, []).append((stands, rows))
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


def measured(right, step, seed):
    """By so little do realizations differ that every order is that of the steps."""
    chance = 0.01 * np.random.default_rng([step, seed]).normal(size=4)
    other = NONE[step] + chance[1:]
    x = np.exp((step if right else -step) + chance[0])
    baselines = {
        "train_loss": 1 + other[0],
        "gradient_norm": 1 + other[1],
        # So that its square hardly moves what it is multiplied with.
        "weight_norm": 10 + 0.01 * other[2],
    }
    gap = 0.1 + 0.05 * step + 0.001 * chance[0]
    tables = columns(x)
    norms = tables["norms_summary"][0] | baselines | {"train_error": 0.0, "test_error": gap}
    history = [{"epoch": 10 + NONE[step], "train_error": 0.0}]
    return tables | {"norms_summary": [norms], "history": history}


def columns(x):
    """Every measure as x, or as minus x where its theory has it so."""
    return {
        "norms_summary": [{"distance": x, "path_norm": x, "normalized_margin_tenth": -x}],
        "sharpness_summary": [{"sharpness": x}],
        "hessian_summary": [
            {
                "spectral_norm": x, "trace": x, "frobenius": x,
                "log10_product": 50 * x, "positive": 50,
            }
        ],
        "duality_summary": [{"T_g": x, "T_w": x, "dual_gap": x}],
        "prior_summary": [{"log10_p": -x}],
        "regret_summary": [{"regret": x}],
        "regret_kl_ball": [{"damping": damping, "regret": x} for damping in (0.0, 0.1)],
        "contrast_summary": [{"flatness": "sharpness", "contrast": x}],
        "valley_directions": [{"rank": rank, "flatness": 10**-x} for rank in (1, 2)],
    }  # fmt: skip


def scaled(right, seed):
    parts = {}
    for scaling, factor in {"none": 1.0, "layer": 3.0, "neurons": 2.0}.items():
        x = 1.0 if right else factor
        tables = columns(x) | {"norms_summary": [columns(x)["norms_summary"][0] | baseline(x)]}
        for name, rows in tables.items():
            place = f"survival_{name.removesuffix('_summary').removeprefix('regret_')}"
            told = [row | {"scaling": scaling, "at": "met+0", "epoch": 60} for row in rows]
            parts.setdefault(place, []).extend(told)
    del parts["survival_valley_directions"]
    return parts


def baseline(x):
    return {"train_loss": x, "gradient_norm": x, "weight_norm": x}
