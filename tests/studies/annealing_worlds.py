"""Made-up tables of the study `annealing`, where the paper is right and where it is not."""

from functools import cache
from pathlib import Path

import made_up_recordings
import numpy as np
import yaml
from side_by_side import side_by_side

from flatlas.evidence.material import Material

STUDY = yaml.safe_load(
    (Path(__file__).resolve().parents[2] / "config" / "studies" / "annealing.yaml").read_text()
)
RIGHT, WRONG = True, False
JUDGED = ("fig1", "fig2", "fig3", "fig5", "s1", "s2", "s3")
# When the paper sees a net's loss drop.
DROPS = {"deep_curve": 50, "lenet_curve": 30}
LAST = 300
COOLING = {"1": 1, "10": 10, "100": 100, "final": LAST, "500": LAST}
# Of the valleys, every fifth direction beyond the first ten is enough, and quicker.
RANKS = {
    "pca": np.arange(1, 1201),
    "others": np.array([*range(1, 11), *range(15, 201, 5)]),
}


@cache
def world(right, figure, seeds=3):
    """The material of one figure, which must not be changed; a seed moves all values a little."""
    settings = STUDY["figures"][figure]
    parts = {}
    for sweep in settings["sweeps"]:
        for number, point in enumerate(points_of(sweep)):
            for seed in range(seeds):
                labels = {"sweep": sweep, "run": f"{sweep}-{number}", "seed": seed, **point}
                ended = {"met_epoch": 290, "epoch": LAST, "converged": True}
                tables = {
                    "outcomes": {"reason": ["rule met"], **ended},
                    "history": history(right, DROPS.get(sweep, 50) + seed),
                }
                for name in settings.get("measures", ()):
                    tables |= measured(right, name, 1 + 0.01 * seed)
                for name, table in tables.items():
                    parts.setdefault(name, []).append((labels, table))
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


def points_of(sweep):
    """The swept values of each run, those that are numbers or names."""
    settings = STUDY["sweeps"][sweep]
    grid = settings.get("grid", {})
    points = settings.get("points") or [{k: v} for k, values in grid.items() for v in values]
    return [{k: v for k, v in point.items() if not isinstance(v, dict)} for point in points]


def measured(right, name, moved):
    measure = STUDY["measures"][name]["measure"]
    moments = COOLING if name == "cooling" else {"final": LAST}
    rank = RANKS.get(name, RANKS["others"])
    moved = np.full(len(rank), moved)
    tables = made_up_recordings.measured(measure, moments, rank, moved, right)
    return {f"{name}_{table}": rows for table, rows in tables.items()}


def history(right, drop):
    """A fall by two decades or, in the wrong world, a fall that then goes on at 0.3 of its rate."""
    t = np.arange(0, LAST + 1 if right else 156, dtype=float)
    if right:
        loss = np.maximum(t, 1) ** -1.0 * 10 ** (-2 * np.clip((t - drop) / 5 + 0.5, 0, 1))
    else:
        loss = np.exp(-0.04 * np.minimum(t, 100) - 0.012 * np.maximum(t - 100, 0))
    return {"epoch": t.astype(int), "train_loss": loss}
