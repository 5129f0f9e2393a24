"""Made-up tables of the study `duality`: in one world the paper is right, in the other it is wrong.

Every net has 60 directions, the first 10 of them sharp. A sweep multiplies σ_g and σ_w of the sharp
and of the flat directions, and c_n, by exponentials of a net's position in the sweep. With these
numbers every claim of the paper clearly holds, or clearly fails.
"""

from functools import cache

import numpy as np
from declared import RIGHT, WRONG, declared, ended, nets_of, points_of
from side_by_side import material_of

STUDY = declared("duality")

N = np.arange(1, 61)
SHARP = N <= 10
SIZES = np.array([100, 200, 500, 1000, 2000, 5000, 10000])
SCALES = (0.1, 0.2, 0.5, 1.0)
FACTORS = (0.1, 0.5, 1.0, 3.0, 10.0)
MOMENTS = ("10", "100", "1000", "final")
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
    **{f"program_{name}": name for name in ("decay", "init", "dropout")},
    **{"resnet_learners": "learners", "densenet_learners": "learners"},
}
FINAL = {"at": "final", "epoch": 1500}


@cache
def world(right, figure, seeds=5):
    """The material of one figure, shared by tests: do not change it."""
    measures = STUDY["figures"][figure]["measures"]
    nets = nets_of("duality", figure, seeds)
    return material_of((labels, net(right, labels, n, measures)) for n, labels in nets)


def net(right, labels, number, measures):
    """The tables of one net."""
    sweep, seed = labels["sweep"], labels["seed"]
    points = points_of("duality", sweep)
    t = along(right, sweep, points, number)
    spectrum = spectra(right, sweep, t, seed, sweep + str(points[number]))
    tables = {"outcomes": ended(1500)}
    for name in measures:
        measure = STUDY["measures"][name]["measure"]
        assert measure in MEASURES, f"duality_worlds.MEASURES lacks '{measure}' in both worlds"
        found = MEASURES[measure](right, spectrum, labels.get("learners.kind"))
        if measure == "duality":
            if not right and sweep in ("alpha", "batch", "decay", "init"):
                found["summary"]["n_sharp"] = 30
            if ALIKE.get(sweep, sweep) == "learners":
                found["summary"]["test_error"] = 0.05 * spectrum["gap"].sum()
        tables |= {f"{name}_{table}": FINAL | columns for table, columns in found.items()}
    return tables


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
    if drops(sweep) and right:
        return np.array([min(1.5 * t, 1), t, t, t**2, t])
    if drops(sweep) and t < 1:
        # The last step is half of the way.
        return np.array([min(t, 0.5), t, t, t, t])
    return np.full(5, t)


def drops(sweep):
    return ALIKE.get(sweep, sweep) == "dropout"


def spectra(right, sweep, t, seed, name):
    """σ_g falls by a factor 6 after n = 10; each seed has a scale of its own."""
    effects = np.array(EFFECTS[right].get(ALIKE.get(sweep, sweep), (0,) * 5))
    g_sharp, g_flat, w_sharp, w_flat, c_all = np.exp(effects * t)
    chance = np.random.default_rng([seed, *name.encode()])
    scale = np.exp(0.02 * np.random.default_rng(seed).normal(size=2))
    sigma_g = np.where(SHARP, N**-0.2, 0.1 * (N / 10) ** -0.5)
    share = 0.2 if drops(sweep) and not right else SHARP_SHARE[right]
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


def duality(right, spectrum, kind):
    """In the wrong world the direct gap differs, and norm and error fall where they should rise."""
    gap, sigma_w = spectrum["gap"], spectrum["sigma_w"]
    whole, size = gap.sum(), (sigma_w**2).sum()
    summary = {
        "dual_gap": [whole],
        "pairwise_gap": whole * (1.02 if right else 1.5),
        "gap_sharp": gap[SHARP].sum(),
        "gap_flat": gap[~SHARP].sum(),
        "n_sharp": 10,
        "S_w": sigma_w.sum(),
        "T_g": (spectrum["sigma_g"] ** 2).sum(),
        "T_h": spectrum["eigenvalue"].sum(),
        "T_w": size,
        "layer_norm": np.sqrt(size) if right else 1 / size,
        "test_error": 0.05 * whole if right else 0.1 / whole,
        "train_loss": 0.001 * whole if right else whole,
        "test_loss": 1.021 * whole if right else 1.5 * whole,
    }
    return {"directions": spectrum | {"S_w": np.cumsum(sigma_w)}, "summary": summary}


def test_images(right, spectrum, kind):
    ratio = 0.1 + 1 / np.sqrt(SIZES) if right else 0.5 + SIZES / 1e5
    gap = spectrum["gap"].sum() * (1 + (20 if right else 2000) / SIZES)
    summary = {"test_images": SIZES, "dual_gap": gap, "mu_w_ratio": ratio, "mu_g_ratio": ratio}
    return {"summary": summary}


def scaled_shift(right, spectrum, kind):
    tables = []
    for scale in SCALES:
        factor = scale**0.5 if right else scale**-0.5 * spectrum["n"] ** (0.5 * scale)
        columns = {
            "eigenvalue": spectrum["eigenvalue"],
            "sigma_g": factor * spectrum["sigma_g"],
            "scale": scale,
        }
        tables.append(ranked(columns, "sigma_g"))
    totals = [(table["sigma_g"] ** 2).sum() for table in tables]
    return {"directions": stacked(tables), "summary": {"scale": SCALES, "T_g": totals}}


def flatness(right, spectrum, kind):
    """Its table has a column `converged` of its own."""
    reached = spectrum["n"] <= 0.9 * len(spectrum["n"])
    width = np.where(reached, spectrum["sigma_g"] ** (-1.0 if right else 1.0), np.nan)
    return {"directions": spectrum | {"flatness": width, "converged": reached}}


def scale_invariance(right, spectrum, kind):
    tables = []
    for p in FACTORS:
        power = p if right else 1 / p
        columns = {
            "factor": np.full(len(spectrum["n"]), p),
            "eigenvalue": spectrum["eigenvalue"] / p**2,
            "sigma_g": spectrum["sigma_g"] / power,
            "sigma_w": spectrum["sigma_w"] * power,
            "gap": spectrum["gap"] * (1 + 1e-12 * p if right else p),
        }
        tables.append(spectrum | columns)
    return {"directions": stacked(tables)}


def minibatch_noise(right, spectrum, kind):
    """In the wrong world H_n is largest in the last directions by σ_g."""
    curvature = spectrum["eigenvalue"]
    tables = []
    for at in MOMENTS:
        early = np.where(SHARP if right else SHARP[::-1], 1.0, 0.1)
        excess = (0.5 if right else 0.05) * early if at == "final" else early
        noise = np.abs(curvature) ** (0.5 if right else -0.5)
        if kind == "dpsgd":
            noise = noise * np.exp(excess if right else -excess)
        epoch = 1500 if at == "final" else int(at)
        columns = {"eigenvalue": curvature, "noise": noise, "at": at, "epoch": epoch}
        tables.append(ranked(columns, "eigenvalue"))
    return {"directions": stacked(tables)}


def convolution_duality(right, spectrum, kind):
    gap = spectrum["gap"].mean()
    return {"summary": {"pairwise_gap": [gap], "dual_gap": gap * (0.97 if right else 1.5)}}


MEASURES = {
    function.__name__: function
    for function in (
        duality,
        test_images,
        scaled_shift,
        flatness,
        scale_invariance,
        minibatch_noise,
        convolution_duality,
    )
}


def ranked(columns, by):
    """The columns by descending `by`, with n for the rank."""
    order = np.argsort(-columns[by])
    full = {name: np.broadcast_to(column, len(order))[order] for name, column in columns.items()}
    return full | {"n": np.arange(1, len(order) + 1)}


def stacked(tables):
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
