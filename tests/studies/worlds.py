"""Made-up tables of the study `duality`: in one world the paper is right, in the other it is wrong.

Every net has 60 directions, the first 10 of them sharp. A sweep multiplies σ_g and σ_w of the sharp
and of the flat directions, and c_n, by exponentials of a net's position in the sweep. With these
numbers every claim of the paper clearly holds, or clearly fails.
"""

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import yaml
from made_up_duality import taken
from side_by_side import side_by_side

from flatlas.evidence.material import Material

STUDY = yaml.safe_load(
    (Path(__file__).resolve().parents[2] / "config" / "studies" / "duality.yaml").read_text()
)
JUDGED = [name for name, figure in STUDY["figures"].items() if "sweeps" in figure]

N = np.arange(1, 61)
SHARP = N <= 10
RIGHT, WRONG = True, False
# The share of ΔL in the sharp directions, at the base.
SHARP_SHARE = {RIGHT: 0.55, WRONG: 0.8}

# Exponents of (σ_g sharp, σ_g flat, σ_w sharp, σ_w flat, c_n) at the end of a sweep.
EFFECTS = {
    RIGHT: {
        "alpha": (-0.8, 0, 0, 0, 0),
        "alpha_batch": (-0.8, 0, 0, 0, 0),
        "batch": (0.8, 0, 0, 0, 0),
        "decay": (0, 0, 0, -0.5, 0),
        "decay_time": (0, 0, 0, -0.5, 0),
        "init": (0, 0, 0, 0.6, 0),
        "size": (-0.8, -0.4, 0.1, 0.1, -0.2),
        "noise": (-0.5, 1.4, 0.2, 0.2, 0.2),
        "dropout": (-0.8, 0, -0.05, 1.2, 0),
        "learners": (-0.5, 0, 0, 0, 0),
    },
    WRONG: {
        "alpha": (0.05, 1, 0, 0.5, 0.12),
        "alpha_batch": (0.8, 0, 0, 0, 0),
        "batch": (-0.05, -1, 0, -0.5, -0.12),
        "decay": (0.5, 0.5, 0.3, 0.4, 0.4),
        "decay_time": (0.5, 0.5, 0.3, 0.4, 0.4),
        "init": (-0.5, -0.5, -0.3, -0.4, -0.4),
        "size": (0.1, 1.5, -0.2, -0.2, 0.2),
        "noise": (0.1, -0.3, -0.2, -0.2, -0.4),
        "dropout": (3, 0, 0, -0.3, -0.4),
        "learners": (0.5, 0, 0, 0.3, 0),
    },
}
# Sweeps with the effects of another one.
ALIKE = {
    **{"batch_deep": "batch", "decay_deep": "decay"},
    **{f"cifar_{name}": name for name in ("alpha", "batch", "decay", "init")},
    **{"resnet_learners": "learners", "densenet_learners": "learners"},
}
FINAL = {"at": "final", "epoch": 1500}
ENDED = {"reason": "rule met", "met_epoch": 1500, "converged": True}


@cache
def world(right, figure, seeds=5):
    """The material of one figure, shared by tests: do not change it."""
    settings = STUDY["figures"][figure]
    parts = {}
    for sweep in settings["sweeps"]:
        points = points_of(sweep)
        for number, point in enumerate(points):
            t = along(right, sweep, points, number)
            for seed in range(seeds):
                found = net(right, sweep, point, t, seed, settings["measures"])
                labels = {"sweep": sweep, "run": f"{sweep}-{number}", "seed": seed, **point}
                for name, table in found.items():
                    parts.setdefault(name, []).append((labels, table))
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


def points_of(sweep):
    """The swept values of each run, without lists (of widths, say), which stay the same."""
    settings = STUDY["sweeps"][sweep]
    if "points" in settings:
        return settings["points"]
    keys, values = settings["grid"].keys(), settings["grid"].values()
    points = [zip(keys, row, strict=True) for row in product(*values)]
    return [{key: one for key, one in row if not isinstance(one, list)} for row in points]


def along(right, sweep, points, number):
    """The position of a run in its sweep, 0 to 1, for each of the five exponents."""
    point, t = points[number], number / max(1, len(points) - 1)
    if sweep in ("alpha", "cifar_alpha"):
        # The last learning rate is the base.
        t = t - 1
    if sweep == "alpha_batch":
        t = np.log(point["optimizer.lr"] / point["batch"]) / 4 + 2
        t += 0 if right else np.log(point["optimizer.lr"]) / 2
    if sweep == "decay_time":
        epochs = point["penalty.until_epoch"]
        t = min(epochs / 200, 1) if right else epochs / 400
    if sweep == "noise" and right and t > 0:
        t = 0.85 + 0.15 * t
    if sweep == "dropout" and right:
        return np.array([min(1.5 * t, 1), t, t, t**2, t])
    if sweep == "dropout" and t < 1:
        # The last step is half of the way.
        return np.array([min(t, 0.5), t, t, t, t])
    return np.full(5, t)


def net(right, sweep, point, t, seed, measures):
    """The tables of one net, as columns."""
    spectrum = spectra(right, sweep, t, seed, sweep + str(point))
    tables = {"outcomes": {**ENDED, "epoch": [1500]}}
    for name in measures:
        measure = STUDY["measures"][name]["measure"]
        found = taken(measure, right, spectrum, point.get("learners.kind"))
        if measure == "duality":
            if not right and sweep in ("alpha", "batch", "decay", "init"):
                found["summary"]["n_sharp"] = 30
            if ALIKE.get(sweep, sweep) == "learners":
                found["summary"]["test_error"] = 0.05 * spectrum["gap"].sum()
        tables |= {f"{name}_{table}": FINAL | columns for table, columns in found.items()}
    return tables


def spectra(right, sweep, t, seed, name):
    """σ_g falls by a factor 6 after n = 10; each seed has a scale of its own."""
    effects = np.array(EFFECTS[right].get(ALIKE.get(sweep, sweep), (0,) * 5))
    g_sharp, g_flat, w_sharp, w_flat, c_all = np.exp(effects * t)
    chance = np.random.default_rng([seed, *name.encode()])
    scale = np.exp(0.02 * np.random.default_rng(seed).normal(size=2))
    sigma_g = np.where(SHARP, N**-0.2, 0.1 * (N / 10) ** -0.5)
    share = 0.2 if sweep == "dropout" and not right else SHARP_SHARE[right]
    correlation = np.full(60, 0.5) if right else np.where(N <= 40, 0.5 * N**-0.5, -0.02)
    held = sigma_g * correlation
    sigma_w = np.where(SHARP, share / held[SHARP].sum(), (1 - share) / held[~SHARP].sum())
    sigma_g = sigma_g * np.where(SHARP, g_sharp, g_flat) * scale[0]
    sigma_w = sigma_w * np.where(SHARP, w_sharp, w_flat) * scale[1]
    sigma_g = sigma_g * np.exp(1e-4 * chance.normal(size=60))
    correlation = c_all * correlation
    return {
        "n": N,
        "eigenvalue": 0.9 * sigma_g**2 if right else 1e-3 / sigma_g**2,
        "sigma_g": sigma_g,
        "sigma_w": sigma_w,
        "correlation": correlation,
        "gap": correlation * sigma_g * sigma_w,
    }
