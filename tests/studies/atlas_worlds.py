"""Made-up tables of the study `atlas`, in a world where every measure is right, or is wrong.

The runs of each sweep go up step by step, and the gap with them. Right measures follow the gap, and
no baseline does; wrong measures go against it. An α-scaling changes wrong measures only.
"""

from functools import cache
from itertools import product

import numpy as np
from declared import ended
from side_by_side import material_of

from flatlas.studies.atlas.nets import AT, AXES, CROSSED
from flatlas.studies.atlas.quantities import SURVIVAL, TABLES

STANDING = {"epoch": 60, "converged": True}
STEPS = 8
# Keys that begin as their axis says.
KEYS = {"optimizer": "optimizer.name", "init": "net.init.weight_std", "survivors": "batch"}
# The settings of the crossed design, of three values each; the first one moves the gap most.
DESIGN = ("optimizer.lr", "batch", "net.hidden")
# The order in which a baseline has the steps: hardly correlated with them.
NONE = (3, 5, 1, 7, 0, 6, 2, 4)


@cache
def world(right, figure, seeds=5):
    """The material of one figure, the same of figures 1, 2 and 6: don't change it."""
    if figure in ("fig2", "fig6"):
        return world(right, "fig1", seeds)
    survivors = figure == "fig3"
    nets = survived(right, seeds) if survivors else trained(right, seeds)
    places = SURVIVAL if survivors else TABLES
    return material_of(
        [
            (point, {places[part]: rows for part, rows in found.items()} | {"outcomes": ended(60)})
            for point, found in nets
        ]
    )


def survived(right, seeds):
    for step, seed in product(range(STEPS), range(seeds)):
        yield point("survivors", step, seed), scaled(right)


def trained(right, seeds):
    """All nets of the axes and of the crossed design; `beyond` has one run and several moments."""
    for axis, seed in product(AXES, range(seeds)):
        steps = [measured(right, step, seed) for step in range(STEPS)]
        if AXES[axis][1] == AT:
            later = [moved(one, f"met+{10 * step}") for step, one in enumerate(steps)]
            parts = {part: [row for one in later for row in one[part]] for part in later[0]}
            yield {"sweep": axis, "run": axis, "seed": seed}, parts
        else:
            yield from ((point(axis, step, seed), one) for step, one in enumerate(steps))
    for values, seed in product(product(range(3), repeat=len(DESIGN)), range(seeds)):
        step = sum(value * 3.0**-place for place, value in enumerate(values))
        run = f"{CROSSED}-{'-'.join(map(str, values))}"
        where = {"sweep": CROSSED, "run": run, "seed": seed}
        yield where | dict(zip(DESIGN, values, strict=True)), measured(right, step, seed)


def point(axis, step, seed):
    key = KEYS.get(axis) or AXES[axis][1]
    value = str(step) if axis == "optimizer" else step
    return {"sweep": axis, "run": f"{axis}-{step}", "seed": seed, key: value}


def moved(parts, at):
    return {part: [row | {AT: at} for row in rows] for part, rows in parts.items()}


def measured(right, step, seed):
    """Realizations differ too little to change the order of the steps."""
    chance = 0.01 * np.random.default_rng([int(100 * step), seed]).normal(size=4)
    other = unrelated(step) + chance[1:]
    parts = columns(np.exp((step if right else -step) / 2 + chance[0]))
    # The weight norm is almost constant, and so is what it multiplies.
    parts["norms"][0].update(baselines(1 + other[0], 1 + other[1], 10 + 0.01 * other[2]))
    gap = 0.1 + 0.05 * step + 0.001 * chance[0]
    parts["norms"][0].update(train_error=0.0, test_error=gap, epoch=10 + unrelated(step))
    return parts


def unrelated(step):
    """The place of a step in another order."""
    if isinstance(step, int):
        return NONE[step]
    return np.random.default_rng(int(100 * step)).uniform(0, 8)


def scaled(right):
    """The tables of `survival`: every measure by scaling."""
    tables = {}
    for scaling, size in {"none": 1.0, "layer": 3.0, "neurons": 2.0}.items():
        x = 1.0 if right else size
        parts = moved(columns(x), "met+0")
        parts["norms"][0].update(baselines(x, x, x), train_error=0.0, test_error=0.1)
        for part in SURVIVAL:
            rows = [row | {"scaling": scaling} for row in parts[part]]
            tables.setdefault(part, []).extend(rows)
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
        "ball": [{"damping": damping, "regret": x} for damping in (0.0, 0.1)],
        "contrast": [{"flatness": "sharpness", "contrast": x}],
        "fisher_rao": [{"fisher_rao": x}],
        "relative_flatness": [{"relative_flatness": x}],
        "adaptive_sharpness": [{"adaptive_sharpness": x}],
        "pac_bayes": [{"sigma": -x, "sigma_magnitude": -x}],
        "learning_coefficient": [{"learning_coefficient": x}],
        "valley": [{"rank": rank, "flatness": 10**-x} for rank in (1, 2)],
    }
    return {part: [STANDING | {AT: "final"} | row for row in rows] for part, rows in parts.items()}


def baselines(train_loss, gradient_norm, weight_norm):
    return {"train_loss": train_loss, "gradient_norm": gradient_norm, "weight_norm": weight_norm}
