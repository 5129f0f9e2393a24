"""Made-up tables of the study `atlas`, in a world where every measure is right, or is wrong.

The runs of each axis go up step by step, and the gap with them. Right measures follow the gap, and
no baseline does; wrong measures go against it. An α-scaling changes wrong measures only.
"""

from functools import cache
from itertools import product

import numpy as np
from made_up_atlas import baselines, columns, surviving
from side_by_side import side_by_side

from flatlas.evidence.material import Material
from flatlas.studies.atlas.nets import AXES
from flatlas.studies.atlas.quantities import SURVIVAL, TABLES

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
    parts = {}
    axes, places = (["survivors"], SURVIVAL) if figure == "fig3" else (AXES, TABLES)
    for axis, step, seed in product(axes, range(STEPS), range(seeds)):
        key = KEYS.get(axis) or AXES[axis][1]
        point = {"sweep": axis, "of": f"made.{axis}", "run": f"{axis}-{step}"}
        point |= {"seed": seed, key: str(step) if axis == "optimizer" else step}
        ended = {"reason": "rule met", "met_epoch": 60, "epoch": 60, "converged": True}
        parts.setdefault("outcomes", []).append((point, [ended]))
        found = scaled(right) if figure == "fig3" else measured(right, step, seed)
        for part, rows in found.items():
            place = places["ball" if part == "kl_ball" else part]
            parts.setdefault(place, []).append((point, rows))
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


def measured(right, step, seed):
    """Realizations differ so little that every order is that of the steps."""
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
