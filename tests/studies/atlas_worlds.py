"""Made-up tables of the study `atlas`, in a world where every measure is right, or is wrong.

The runs of each axis go up step by step, and the gap with them. Right measures follow the gap, and
no baseline does; wrong measures go against it. An α-scaling changes wrong measures only.
"""

from functools import cache
from itertools import product

import numpy as np
from side_by_side import side_by_side

from flatlas.evidence.material import Material
from flatlas.studies.atlas.nets import AXES

RIGHT, WRONG = True, False
FIGURES = ("fig1", "fig2", "fig3")
STEPS = 6
# Axes whose key is longer than how it begins.
KEYS = {"optimizer": "optimizer.name", "survivors": "data.attack_size"}
# The order in which a baseline has the steps: τ = 0.07 with the gap.
NONE = (2, 4, 0, 5, 1, 3)
STANDING = {"at": "met+0", "epoch": 60}


@cache
def world(right, figure, seeds=5):
    """The material of one figure. It is cached: don't change it."""
    parts = {}
    axes = AXES if figure != "fig3" else ["survivors"]
    for axis, step, seed in product(axes, range(STEPS), range(seeds)):
        key = KEYS.get(axis) or AXES[axis][1]
        stands = {"sweep": axis, "of": f"made.{axis}", "run": f"{axis}-{step}"}
        stands |= {"seed": seed, key: str(step) if axis == "optimizer" else step}
        tables = scaled(right) if figure == "fig3" else measured(right, step, seed)
        ended = {"reason": "rule met", "met_epoch": 60, "epoch": 60, "converged": True}
        for name, rows in (tables | {"outcomes": [ended]}).items():
            parts.setdefault(name, []).append((stands, rows))
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


def measured(right, step, seed):
    """Realizations differ so little that every order is that of the steps."""
    chance = 0.01 * np.random.default_rng([step, seed]).normal(size=4)
    other = NONE[step] + chance[1:]
    tables = columns(np.exp((step if right else -step) + chance[0]))
    gap = 0.1 + 0.05 * step + 0.001 * chance[0]
    # The weight norm is almost constant, and so is what it multiplies.
    weight_norm = 10 + 0.01 * other[2]
    baselines = {"train_loss": 1 + other[0], "gradient_norm": 1 + other[1]}
    baselines |= {"weight_norm": weight_norm, "train_error": 0.0, "test_error": gap}
    tables["norms_summary"][0].update(baselines)
    return tables | {"history": [{"epoch": 10 + NONE[step], "train_error": 0.0}]}


def columns(x):
    """Every measure as x, or as −x where less of it is worse; every search converged."""
    hessian = dict.fromkeys(("spectral_norm", "trace", "frobenius"), x)
    tables = {
        "norms_summary": [{"distance": x, "path_norm": x, "normalized_margin_tenth": -x}],
        "sharpness_summary": [{"sharpness": x}],
        "hessian_summary": [hessian | {"log10_product": 50 * x, "positive": 50}],
        "duality_summary": [{"T_g": x, "T_w": x, "dual_gap": x}],
        "prior_summary": [{"log10_p": -x}],
        "regret_summary": [{"regret": x}],
        "regret_kl_ball": [{"damping": damping, "regret": x} for damping in (0.0, 0.1)],
        "contrast_summary": [{"flatness": "sharpness", "contrast": x}],
        "valley_directions": [{"rank": rank, "flatness": 10**-x} for rank in (1, 2)],
    }
    return {
        name: [STANDING | {"converged": True} | row for row in rows]
        for name, rows in tables.items()
    }


def scaled(right):
    parts = {}
    for scaling, factor in {"none": 1.0, "layer": 3.0, "neurons": 2.0}.items():
        x = 1.0 if right else factor
        tables = columns(x)
        tables["norms_summary"][0].update(train_loss=x, gradient_norm=x, weight_norm=x)
        del tables["valley_directions"]
        for name, rows in tables.items():
            place = f"survival_{name.removesuffix('_summary').removeprefix('regret_')}"
            parts.setdefault(place, []).extend(row | {"scaling": scaling} for row in rows)
    return parts
