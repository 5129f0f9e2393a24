"""Tables as measures write them, made up: for what is drawn, not for what is true.

Spectra fall as those of trained nets do, with a step after ten sharp directions.
"""

from itertools import count

import made_up_atlas
import made_up_forgetting
import made_up_norms
import made_up_priors
import made_up_recordings
import made_up_regrets
import numpy as np
import pandas as pd
from side_by_side import side_by_side, without_rows

from flatlas.evidence.material import Material
from flatlas.plan.measure_specs import MEASURES

RULE_MET, EXHAUSTED, DIVERGED = "rule met", "epochs exhausted", "diverged"
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
# How a value moves sharpness in sharp directions and in flat ones, and size, per unit of its size.
PULLS = {
    "optimizer.lr": (-1.0, 0.0, 0.1),
    "batch": (1.0, 0.0, -0.1),
    "penalty.coefficient": (0.0, 0.0, -0.6),
    "penalty.until_epoch": (0.0, 0.0, -0.5),
    "net.init.scale": (0.0, 0.1, 0.8),
    "net.dropout": (-0.6, -0.3, 0.6),
    "data.per_class": (-0.3, -0.3, 0.1),
    "data.label_noise": (-0.5, 0.8, 0.5),
    "data.attack_size": (-0.5, 0.8, 0.5),
    "learners.kind": (-0.5, 0.0, 0.0),
}


def material(points, measures, realizations=3, directions=900, ends=None):
    """What a figure is given. `ends` tells how a training (run, seed) ended, where no rule was met.

    `measures` are names of measures, in the study, with what each measures.
    """
    ends = ends or {}
    parts = {}
    for place, point in enumerate(points):
        strength = _strengths(points, point)
        stands = {key: value for key, value in point.items() if key != "lacks"}
        tables = {
            "outcomes": [({}, _outcomes(point, realizations, ends))],
            "history": [({"seed": seed}, _history(place, seed)) for seed in range(realizations)],
        }
        for name, measure in measures.items():
            if any(table.startswith(f"{name}_") for table in point.get("lacks", ())):
                continue
            tables[f"{name}_cost"] = [({}, [{"seconds": 2.0 + place, "peak_mib": 500}])]
            for seed in range(realizations):
                rng = np.random.default_rng([seed, place])
                end = ends.get((point["run"], seed), RULE_MET)
                found = taken(name, measure, rng, strength, directions, end == RULE_MET)
                assert set(found) == set(MEASURES[measure].tables), f"the tables of {measure}"
                for table, rows in found.items():
                    rows = rows if end != DIVERGED else without_rows(rows)
                    tables.setdefault(f"{name}_{table}", []).append(({"seed": seed}, rows))
        for name, some in tables.items():
            parts.setdefault(name, []).extend((standing | stands, rows) for standing, rows in some)
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


def taken(name, measure, rng, strength, directions, met):
    """What a measure, in the study called by a name, finds of one net."""
    if measure in made_up_atlas.MEASURES:
        return made_up_atlas.taken(name, measure, rng, strength, met)
    if name in made_up_norms.NAMES:
        return made_up_norms.taken(name, rng, strength)
    for module in (made_up_priors, made_up_regrets):
        if measure in module.MEASURES:
            return module.taken(name, measure, rng, strength, met)
    if measure in made_up_recordings.MEASURES:
        return made_up_recordings.taken(name, measure, rng, directions)
    if measure == "forgetting":
        return made_up_forgetting.forgetting(rng)
    return TAKEN[measure](rng, strength, directions)


def _strengths(points, point):
    """How far each value of a point stands up its sweep, 0 to 1."""
    beside = [other for other in points if other["sweep"] == point["sweep"]]
    strengths = {}
    for key in PULLS.keys() & point.keys():
        values = sorted({other[key] for other in beside})
        strengths[key] = values.index(point[key]) / max(len(values) - 1, 1)
    return strengths


def _outcomes(point, realizations, ends):
    seeds = range(realizations)
    reasons = [ends.get((point["run"], seed), RULE_MET) for seed in seeds]
    rows = {"seed": list(seeds), "reason": reasons, "met_epoch": 60, "epoch": 60}
    return rows | {"converged": [reason == RULE_MET for reason in reasons]}


def _history(place, seed):
    """Losses that fall by two decades about epoch 20; errors that differ from point to point."""
    epoch = np.arange(61)
    loss = 2 / (1 + epoch) * np.where(epoch < 20, 1, 0.01)
    return {
        "epoch": epoch,
        "train_loss": loss,
        "train_error": np.where(epoch < 30, 0.1, 0.0),
        "weight_norm": 5 + np.log(1 + epoch),
        "test_error": 0.1 + 0.01 * seed + 0.001 * place + loss / 10,
    }


def _spectra(rng, strength, directions):
    sharp, flat, size = (
        sum(PULLS[key][which] * value for key, value in strength.items()) for which in range(3)
    )
    n = np.arange(1, directions + 1)
    few = min(10, directions // 3)
    log = np.where(n <= few, 1.0 - 0.08 * n + 0.5 * sharp, -0.7 - 1.1 * np.log10(n / few) + flat)
    log = log - 8 * np.clip(n / directions - 0.9, 0, None)
    sigma_g = np.sort(np.exp(log + rng.normal(0, 0.05, directions)))[::-1]
    curvature = sigma_g**2.5 * np.exp(rng.normal(0, 0.8, directions))
    curvature[-directions // 10 :] *= rng.choice([-1, 1e-14], directions // 10 or directions)
    sigma_w = 0.17 * n**-0.35 * np.exp(0.5 * size * np.log10(9 + n)) * rng.lognormal(0, 0.2, len(n))
    correlation = np.clip(0.33 + 0.05 * size + rng.normal(0, 0.04, directions), 0.01, 0.9)
    mean = rng.normal(0, 0.05, (2, directions))
    table = {"n": n, "eigenvalue": curvature, "sigma_g": sigma_g, "sigma_w": sigma_w}
    table |= {"S_w": np.cumsum(sigma_w), "correlation": correlation}
    table |= {"mu_g": mean[0] * sigma_g, "mu_w": mean[1] * sigma_w}
    return pd.DataFrame(table | {"gap": correlation * sigma_g * sigma_w}), few, size


def duality(rng, strength, directions):
    table, few, size = _spectra(rng, strength, directions)
    gap = table["gap"]
    row = {
        "pairwise_gap": 1.004 * gap.sum(),
        "dual_gap": gap.sum(),
        "mu_gap": 0.004 * gap.sum(),
        "gap_sharp": gap[:few].sum(),
        "gap_flat": gap[few:].sum(),
        "n_sharp": few + rng.integers(-1, 2),
        "S_w": table["S_w"].iloc[-1],
        "T_g": (table["sigma_g"] ** 2).sum(),
        "T_h": table["eigenvalue"].sum(),
        "T_w": (table["sigma_w"] ** 2).sum(),
        "layer_norm": 9 * np.exp(0.3 * size) * rng.lognormal(0, 0.01),
        "test_error": 0.02 + 0.03 * gap.sum() * rng.lognormal(0, 0.05),
    }
    return {"directions": table, "summary": pd.DataFrame([row])}


def test_images(rng, strength, directions):
    tables, rows = [], []
    for images in (100, 200, 500, 1000, 2000, 5000, 10000):
        table, *_ = _spectra(rng, strength, directions)
        noise = rng.normal(0, 1, (2, directions)) / np.sqrt(images) + 0.02
        table["mu_g"], table["mu_w"] = noise[0] * table["sigma_g"], noise[1] * table["sigma_w"]
        tables.append(table.assign(test_images=images))
        gap = table["gap"].sum() * (1 + rng.normal(0, 2 / np.sqrt(images)))
        ratios = dict(zip(("mu_g_ratio", "mu_w_ratio"), np.abs(noise).mean(axis=1), strict=True))
        rows.append({"test_images": images, "pairwise_gap": gap, "dual_gap": gap} | ratios)
    return {"directions": pd.concat(tables), "summary": pd.DataFrame(rows)}


def scaled_shift(rng, strength, directions):
    table, *_ = _spectra(rng, strength, directions)
    scales = (0.1, 0.2, 0.5, 1.0)
    tables = [table.assign(scale=s, sigma_g=table["sigma_g"] * (0.2 + 0.8 * s)) for s in scales]
    rows = [
        {"scale": s, "T_g": (t["sigma_g"] ** 2).sum()} for s, t in zip(scales, tables, strict=True)
    ]
    return {"directions": pd.concat(tables), "summary": pd.DataFrame(rows)}


def flatness(rng, strength, directions):
    table, *_ = _spectra(rng, strength, directions)
    width = 0.3 / table["sigma_g"] * rng.lognormal(0, 0.2, directions)
    width = width.where(table["n"] <= 0.7 * directions)
    columns = table[["n", "eigenvalue", "sigma_g"]].assign(flatness=width)
    return {"directions": columns.assign(converged=width.notna(), iterations=20, residual=1e-9)}


def scale_invariance(rng, strength, directions):
    table, *_ = _spectra(rng, strength, directions)
    scaled = [
        table.assign(
            factor=p, sigma_g=table["sigma_g"] / p, sigma_w=p * table["sigma_w"],
            gap=table["gap"] * (1 + rng.normal(0, 1e-13, directions)),
        )
        for p in FACTORS
    ]  # fmt: skip
    return {"directions": pd.concat(scaled)}


def minibatch_noise(rng, strength, directions):
    tables = []
    for epoch, at in zip(count(1), ("10", "100", "1000", "final"), strict=False):
        table, *_ = _spectra(rng, {}, directions)
        table = table.sort_values("eigenvalue", ascending=False, ignore_index=True)
        noise = 0.05 * table["eigenvalue"].clip(lower=1e-4) ** 0.5 / epoch
        more = 1 + strength["learners.kind"] * 2 * table["eigenvalue"].clip(0, 1) / epoch
        columns = {"at": at, "epoch": 10**epoch, "n": np.arange(1, directions + 1)}
        columns |= {"eigenvalue": table["eigenvalue"], "noise": noise * (2 - more / 3)}
        tables.append(pd.DataFrame(columns | {"noise_of_mean": noise / 2}))
    return {"directions": pd.concat(tables)}


def convolution_duality(rng, strength, directions):
    gap = rng.exponential(0.3, 300) * rng.choice([1, 1, 1, -0.3], 300)
    dual = gap * rng.lognormal(0, 0.3, 300) + rng.normal(0, 0.02, 300)
    columns = {"loss_gap": gap, "dual_loss_gap": dual, "residual": rng.beta(4, 4, 300)}
    table = pd.DataFrame(columns)
    off = (table["dual_loss_gap"] - table["loss_gap"]).abs().mean()
    row = {"pairwise_gap": gap.mean(), "dual_gap": table["dual_loss_gap"].mean()}
    return {"pairs": table, "summary": pd.DataFrame([row | {"residual_loss": off}])}


TAKEN = {
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
