"""Made-up tables of the study `annealing`, in a world where the paper is right and where it is not.

Everything along the directions is a power law of the rank or of F_i, and each realization moves all
of it by a little.
"""

from functools import cache
from pathlib import Path

import numpy as np
import yaml
from side_by_side import side_by_side

from flatlas.evidence.material import Material

STUDY = yaml.safe_load(
    (Path(__file__).resolve().parents[2] / "config" / "studies" / "annealing.yaml").read_text()
)
RIGHT, WRONG = True, False
JUDGED = ("fig1", "fig2", "fig3", "fig5", "s1", "s2", "s3")
RANK = np.arange(1, 1201)
# Every fifth direction beyond the first ten is enough, and quicker.
MEASURED = (RANK <= 10) | ((RANK <= 200) & (RANK % 5 == 0))
STEPS = np.linspace(-1, 1, 21)
# When the paper sees a net's loss drop.
DROPS = {"deep_curve": 50, "lenet_curve": 30}
LAST = 300


@cache
def world(right, figure, seeds=3):
    """The material of one figure, which nobody may change."""
    settings = STUDY["figures"][figure]
    parts = {}
    for sweep in settings["sweeps"]:
        for number, point in enumerate(points_of(sweep)):
            for seed in range(seeds):
                stands = {"sweep": sweep, "run": f"{sweep}-{number}", "seed": seed, **point}
                tables = {
                    "outcomes": {"reason": ["rule met"], "met_epoch": 290, "epoch": LAST},
                    "history": history(right, DROPS.get(sweep, 50) + seed),
                }
                tables["outcomes"]["converged"] = True
                for name in settings.get("measures", ()):
                    tables |= measured(right, name, 1 + 0.01 * seed)
                for name, table in tables.items():
                    parts.setdefault(name, []).append((stands, table))
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


def points_of(sweep):
    """The swept values of each run, those that are numbers or names."""
    points = STUDY["sweeps"][sweep]["points"]
    return [{k: v for k, v in point.items() if not isinstance(v, dict)} for point in points]


def measured(right, name, moved):
    tables = MEASURES[name](right, moved)
    if name == "cooling":
        return tables
    final = {"at": "final", "epoch": LAST}
    return {f"{name}_{table}": columns | final for table, columns in tables.items()}


def history(right, drop):
    """A fall by two decades or, in the wrong world, a fall that then goes on at 0.3 of its rate."""
    t = np.arange(0, LAST + 1 if right else 156, dtype=float)
    if right:
        loss = np.maximum(t, 1) ** -1.0 * 10 ** (-2 * np.clip((t - drop) / 5 + 0.5, 0, 1))
    else:
        loss = np.exp(-0.04 * np.minimum(t, 100) - 0.012 * np.maximum(t - 100, 0))
    return {"epoch": t.astype(int), "train_loss": loss}


def pca(right, moved):
    if right:
        variance = np.where(RANK <= 200, RANK**-2.6, 200**2.4 * RANK**-5.0)
        # Along p_1 more than the power law has: a drift.
        variance = np.where(RANK == 1, 100.0, variance)
        cumulative, times = 1 - np.exp(-(RANK - 1) / 14), np.where(RANK == 1, np.inf, 0.63)
    else:
        variance = np.where(RANK <= 200, RANK**-1.0, 200**-0.5 * RANK**-0.5)
        cumulative, times = 1 - np.exp(-(RANK - 1) / 200), np.where(RANK == 1, 1.0, 2.0)
    columns = {"rank": RANK, "variance": moved * variance, "cumulative": cumulative}
    return {"directions": columns | {"velocity_time": moved * times}}


def widths(right, moved):
    return moved * RANK[MEASURED] ** (0.65 if right else -0.5)


def valley(right, moved):
    width = widths(right, moved)
    first = RANK[MEASURED] == 1
    table = {
        "rank": RANK[MEASURED],
        "flatness": width,
        "variance": 1e-3 * width ** (-4.0 if right else 2.0),
        "curvature": (8 if right else 16) / width**2,
        "slope": np.where(first, -2.0, 0.01 if right else -2.0) * (1 if right else -1) / width,
        "converged": True,
    }
    return {"directions": table}


def minibatch(right, moved):
    width = widths(right, moved)
    powers = (-2, 2, -2) if right else (-4, 6, 1)
    names = ("curvature", "minimum_variance", "product")
    table = {name: width ** float(power) for name, power in zip(names, powers, strict=True)}
    return {"directions": table | {"rank": RANK[MEASURED], "found": 1.0}}


def temperature(right, moved):
    width, loss = widths(right, moved), moved * np.exp(STEPS**2)
    profile = {"rank": 10, "delta": moved * STEPS, "loss": loss}
    profile |= {"temperature": loss ** (1.5 if right else -1.0)}
    table = {"rank": RANK[MEASURED], "temperature": width ** (-2.0 if right else 2.0)}
    return {"directions": table, "profiles": profile}


def cooling(right, moved):
    """Checkpoints, the last of them beyond the end of the training, which it repeats."""
    epochs = np.array([1, 10, 100, LAST, 500])
    loss = moved / np.minimum(epochs, LAST)
    heat = loss if right else 1 / loss
    heat = np.where(epochs == 500, 1e9 if right else 1e-9, heat)
    at = ["1", "10", "100", "final", "500"]
    columns = {"rank": 10, "at": at, "epoch": epochs, "temperature": heat, "loss": loss}
    return {"cooling_directions": columns}


def first_mode(right, moved):
    label, theta = np.repeat([0, 1, 2], len(STEPS)), np.tile(STEPS, 3)
    margin = theta + 0.1 * theta**2 if right else theta**2
    return {"margins": {"label": label, "theta": moved * theta, "margin": margin}}


MEASURES = {
    function.__name__: function
    for function in (pca, valley, minibatch, temperature, cooling, first_mode)
}
