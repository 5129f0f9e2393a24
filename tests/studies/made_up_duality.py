"""Tables of the study `duality`, made from a spectrum: where the paper is right, and where not.

A spectrum has its columns as arrays over the directions n, the first ten of which are sharp.
"""

import numpy as np

SHARP = 10
SIZES = np.array([100, 200, 500, 1000, 2000, 5000, 10000])
SCALES = (0.1, 0.2, 0.5, 1.0)
FACTORS = (0.1, 0.5, 1.0, 3.0, 10.0)
MOMENTS = ("10", "100", "1000", "final")
PAIRS = 300


def taken(measure, right, spectrum, kind="ssgd"):
    """The tables of a measure; `kind` is that of the net's learners."""
    if measure == "minibatch_noise":
        return minibatch_noise(right, spectrum, kind)
    return MEASURES[measure](right, spectrum)


def duality(right, spectrum):
    """In the wrong world the direct gap differs, and norm and error fall where they should rise."""
    gap, sigma_w = spectrum["gap"], spectrum["sigma_w"]
    whole, size = gap.sum(), (sigma_w**2).sum()
    summary = {
        "dual_gap": [whole],
        "pairwise_gap": whole * (1.02 if right else 1.5),
        "mu_gap": 0.02 * whole,
        "gap_sharp": gap[:SHARP].sum(),
        "gap_flat": gap[SHARP:].sum(),
        "n_sharp": SHARP,
        "S_w": sigma_w.sum(),
        "T_g": (spectrum["sigma_g"] ** 2).sum(),
        "T_h": spectrum["eigenvalue"].sum(),
        "T_w": size,
        "layer_norm": np.sqrt(size) if right else 1 / size,
        "test_error": 0.05 * whole if right else 0.1 / whole,
    }
    return {"directions": spectrum | {"S_w": np.cumsum(sigma_w)}, "summary": summary}


def test_images(right, spectrum):
    ratio = 0.1 + 1 / np.sqrt(SIZES) if right else 0.5 + SIZES / 1e5
    gap = spectrum["gap"].sum() * (1 + (20 if right else 2000) / SIZES)
    summary = {"test_images": SIZES, "dual_gap": gap, "mu_w_ratio": ratio, "mu_g_ratio": ratio}
    directions = [
        spectrum
        | {"test_images": np.full(len(spectrum["n"]), size)}
        | {f"mu_{which}": one * spectrum[f"sigma_{which}"] for which in "gw"}
        for size, one in zip(SIZES, ratio, strict=True)
    ]
    return {"directions": stacked(directions), "summary": summary}


def scaled_shift(right, spectrum):
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


def flatness(right, spectrum):
    """Its table has a column `converged` of its own."""
    reached = spectrum["n"] <= 0.9 * len(spectrum["n"])
    width = np.where(reached, spectrum["sigma_g"] ** (-1.0 if right else 1.0), np.nan)
    search = {"converged": reached, "iterations": 20, "residual": 1e-9}
    return {"directions": spectrum | {"flatness": width} | search}


def scale_invariance(right, spectrum):
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
    n, curvature = spectrum["n"], spectrum["eigenvalue"]
    tables = []
    for at in MOMENTS:
        early = np.where(n <= SHARP if right else n > len(n) - SHARP, 1.0, 0.1)
        excess = (0.5 if right else 0.05) * early if at == "final" else early
        noise = np.abs(curvature) ** (0.5 if right else -0.5)
        if kind == "dpsgd":
            noise = noise * np.exp(excess if right else -excess)
        epoch = 1500 if at == "final" else int(at)
        columns = {"eigenvalue": curvature, "noise": noise, "noise_of_mean": noise / 2}
        tables.append(ranked(columns | {"at": at, "epoch": epoch}, "eigenvalue"))
    return {"directions": stacked(tables)}


def convolution_duality(right, spectrum):
    gap = np.resize(spectrum["gap"], PAIRS)
    dual = gap * (0.97 if right else 1.5)
    pairs = {"loss_gap": gap, "dual_loss_gap": dual, "residual": np.linspace(0, 1, PAIRS)}
    means = {"pairwise_gap": [gap.mean()], "dual_gap": dual.mean()}
    return {"pairs": pairs, "summary": means | {"residual_loss": np.abs(dual - gap).mean()}}


MEASURES = {
    function.__name__: function
    for function in (
        duality,
        test_images,
        scaled_shift,
        flatness,
        scale_invariance,
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
