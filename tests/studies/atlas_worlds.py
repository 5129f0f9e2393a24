"""Made-up tables of the study `atlas`, in a world where every measure is right, or is wrong.

The runs of each axis go up step by step, and the gap with them. Right measures follow the gap, and
no baseline does; wrong measures go against it. An α-scaling changes wrong measures only.
"""

from functools import cache
from itertools import product

import numpy as np
from declared import ended
from side_by_side import material_of

from flatlas.studies.atlas.nets import AXES
from flatlas.studies.atlas.quantities import SURVIVAL, TABLES

STANDING = {"at": "met+0", "epoch": 60, "converged": True}
RIGHT, WRONG = True, False
FIGURES = ("fig1", "fig2", "fig3")
STEPS = 6
# Axes whose key is longer than its beginning.
KEYS = {"optimizer": "optimizer.name", "survivors": "data.attack_size"}
# The order in which a baseline has the steps: τ = 0.07 with the gap.
NONE = (2, 4, 0, 5, 1, 3)


@cache
def world(right, figure, seeds=5):
    """The material of one figure. It is cached: don't change it."""
    axes, places = (["survivors"], SURVIVAL) if figure == "fig3" else (AXES, TABLES)
    nets = []
    for axis, step, seed in product(axes, range(STEPS), range(seeds)):
        key = KEYS.get(axis) or AXES[axis][1]
        point = {"sweep": axis, "of": f"made.{axis}", "run": f"{axis}-{step}"}
        point |= {"seed": seed, key: str(step) if axis == "optimizer" else step}
        found = scaled(right) if figure == "fig3" else measured(right, step, seed)
        tables = {places["ball" if part == "kl_ball" else part]: t for part, t in found.items()}
        nets.append((point, tables | {"outcomes": ended(60)}))
    return material_of(nets)


def measured(right, step, seed):
    """Realizations differ too little to change the order of the steps."""
    chance = 0.01 * np.random.default_rng([step, seed]).normal(size=4)
    other = NONE[step] + chance[1:]
    parts = columns(np.exp((step if right else -step) + chance[0]))
    # The weight norm is almost constant, and so is what it multiplies.
    parts["norms"][0].update(baselines(1 + other[0], 1 + other[1], 10 + 0.01 * other[2]))
    gap = 0.1 + 0.05 * step + 0.001 * chance[0]
    parts["norms"][0].update(train_error=0.0, test_error=gap)
    return parts | {"history": [{"epoch": 10 + NONE[step], "train_error": 0.0}]}


def scaled(right):
    return surviving(
        {"none": 1.0, "layer": 1.0 if right else 3.0, "neurons": 1.0 if right else 2.0}
    )


def surviving(sizes):
    """The tables of `survival`, of measures of these sizes by scaling."""
    tables = {}
    for scaling, x in sizes.items():
        parts = columns(x)
        parts = {name: rows for name, rows in parts.items() if name in (*SURVIVAL, "kl_ball")}
        parts["norms"][0].update(baselines(x, x, x))
        for part, rows in parts.items():
            tables.setdefault(part, []).extend(row | {"scaling": scaling} for row in rows)
    return tables


def columns(x):
    """Every measure as x, or as −x where less of it is worse; every search converged."""
    hessian = dict.fromkeys(("spectral_norm", "trace", "frobenius"), x)
    parts = {
        "norms": [{"distance": x, "path_norm": x, "normalized_margin_tenth": -x}],
        "sharpness": [{"sharpness": x}],
        "hessian": [hessian | {"log10_product": 50 * x, "positive": 50}],
        "duality": [{"T_g": x, "T_w": x, "dual_gap": x}],
        "prior": [{"log10_p": -x}],
        "regret": [{"regret": x}],
        "kl_ball": [{"damping": damping, "regret": x} for damping in (0.0, 0.1)],
        "contrast": [{"flatness": "sharpness", "contrast": x}],
        "fisher_rao": [{"fisher_rao": x}],
        "relative_flatness": [{"relative_flatness": x}],
        "adaptive_sharpness": [{"adaptive_sharpness": x}],
        "pac_bayes": [{"sigma": -x, "sigma_magnitude": -x}],
        "learning_coefficient": [{"learning_coefficient": x}],
        "valley": [{"rank": rank, "flatness": 10**-x} for rank in (1, 2)],
    }
    return {part: [STANDING | row for row in rows] for part, rows in parts.items()}


def baselines(train_loss, gradient_norm, weight_norm):
    return {"train_loss": train_loss, "gradient_norm": gradient_norm, "weight_norm": weight_norm}
