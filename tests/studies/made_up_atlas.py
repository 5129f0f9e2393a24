"""Made-up tables of the study `atlas`, and of the measures that it alone takes."""

import numpy as np
from side_by_side import without_rows

SCALINGS = {"none": 1.0, "layer": 5.9, "neurons": 1.7}
STANDING = {"at": "met+0", "epoch": 60, "converged": True}


def taken(name, measure, rng, strength, met):
    """The tables of a net; one that has not met its rule has no row."""
    attack = strength.get("data.attack_size", 0.0) + rng.normal(0, 0.03)
    tables = MEASURES[measure](rng, attack)
    return {table: rows if met else without_rows(rows) for table, rows in tables.items()}


def norms(rng, attack):
    error = np.clip(0.1 + 0.3 * attack + 0.02 * rng.normal(), 0, 1)
    row = columns(np.exp(attack))["norms"][0] | baselines(*rng.lognormal(size=3))
    return {"summary": [row | {"train_error": 0.0, "test_error": error}]}


def survival(rng, attack):
    """Every table times the factor; the prior knows the function only."""
    scaled = {one: np.exp(attack) * factor for one, factor in SCALINGS.items()}
    rows = surviving(scaled) | {
        "prior": surviving(dict.fromkeys(SCALINGS, np.exp(attack)))["prior"]
    }
    later = {table: [row | {"at": "final"} for row in rows] for table, rows in rows.items()}
    return {table: rows[table] + later[table] for table in rows}


def surviving(sizes):
    """The tables of `survival`, of measures of these sizes by scaling."""
    tables = {}
    for scaling, x in sizes.items():
        parts = columns(x)
        del parts["valley"]
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
        "valley": [{"rank": rank, "flatness": 10**-x} for rank in (1, 2)],
    }
    return {part: [STANDING | row for row in rows] for part, rows in parts.items()}


def baselines(train_loss, gradient_norm, weight_norm):
    return {"train_loss": train_loss, "gradient_norm": gradient_norm, "weight_norm": weight_norm}


MEASURES = {function.__name__: function for function in (norms, survival)}
