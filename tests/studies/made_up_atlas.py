"""Tables of the measures that only the study `atlas` takes, made up as in `made_up`."""

from itertools import product

import made_up_priors
import made_up_regrets
import numpy as np
from side_by_side import joined, without_rows

SCALINGS = {"none": 1.0, "layer": 5.9, "neurons": 1.7}


def taken(name, measure, rng, strength, met):
    """The tables of a net; one that has not met its rule has no row."""
    attack = strength.get("data.attack_size", 0.0) + rng.normal(0, 0.03)
    tables = MEASURES[measure](rng, attack)
    return {table: rows if met else without_rows(rows) for table, rows in tables.items()}


def norms(rng, attack):
    row = {
        "weight_norm": 10 + attack,
        "distance": 5 * np.exp(attack),
        "path_norm": 20 * np.exp(attack),
        **margins(rng, 0.5),
        **{f"normalized_{name}": value / 20 for name, value in margins(rng, 0.5).items()},
        "gradient_norm": 0.1 * rng.lognormal(),
        "train_loss": 0.01 * rng.lognormal(),
        "train_error": 0.0,
        "test_loss": 0.4,
        "test_error": np.clip(0.1 + 0.3 * attack + 0.02 * rng.normal(), 0, 1),
    }
    return {"summary": [row | {"at": "met+0", "epoch": 60}]}


def margins(rng, least):
    return {f"margin_{name}": least * by for name, by in (("least", 1), ("tenth", 2), ("mean", 4))}


def survival(rng, attack):
    """Every table of its own measure, times the factor; the prior knows the function only."""
    parts = {}
    for (scaling, factor), at in product(SCALINGS.items(), ("met+0", "final")):
        for table, rows in one_of_each(rng, attack).items():
            told = joined([({}, rows)])
            if table != "prior":
                told = {name: scaled(name, column, factor) for name, column in told.items()}
            standing = {"scaling": scaling, "at": at, "epoch": 60}
            parts.setdefault(table, []).append((standing, told))
    return {table: joined(rows) for table, rows in parts.items()}


def scaled(name, column, factor):
    """Numbers times the factor, except those that name a row."""
    kept = name in ("factor", "damping") or any(isinstance(one, str | bool) for one in column)
    return column if kept else [factor * one for one in column]


def one_of_each(rng, attack):
    local = made_up_regrets.regret(rng, attack, (1.0,))
    dual = {"T_g": 1 + attack, "T_w": 2.0, "dual_gap": 0.3 + attack, "pairwise_gap": 0.3 + attack}
    return {
        "norms": norms(rng, attack)["summary"],
        "sharpness": made_up_priors.sharpness(rng, attack, 0)["summary"],
        "hessian": made_up_priors.hessian(rng, attack, 0)["summary"],
        "duality": [dual],
        "prior": made_up_priors.gp_prior(rng, attack, 0)["summary"],
        "regret": local["summary"],
        "kl_ball": local["kl_ball"],
        "contrast": made_up_regrets.contrastive_flatness(rng, attack, (1.0,))["summary"],
    }


MEASURES = {function.__name__: function for function in (norms, survival)}
