"""Tables of the study `prior`, made up as in `made_up`: a row for each moment of a training.

The more wrong labels a net learnt, the less likely its function, and the sharper it is.
"""

import numpy as np
from side_by_side import joined, without_rows

# When zero error is met, and when the weights of a layer are rescaled after that.
MET, RESCALED = 60, 500
# Moments by how the study calls a measure: epochs after zero error, before it below zero.
MOMENTS = {
    "later": (100, 500, 1000),
    "watched": (*range(-MET, 0, 5), *range(0, 1001, 20)),
}


def taken(name, measure, rng, strength, met):
    """The tables of a net at all moments of the measure that the study calls so.

    One that has not met zero error has none from there on.
    """
    attack = strength.get("data.attack_size", 0.0) + rng.normal(0, 0.03)
    parts = {}
    for beyond in MOMENTS.get(name.split("_")[0], (0,)):
        at = {"at": f"met+{beyond}" if beyond >= 0 else str(MET + beyond), "epoch": MET + beyond}
        for table, rows in MEASURES[measure](rng, attack, beyond).items():
            told = rows if met or beyond < 0 else without_rows(rows)
            parts.setdefault(table, []).append((at, told))
    return {table: joined(rows) for table, rows in parts.items()}


def gp_prior(rng, attack, beyond):
    untrained = max(-beyond / MET, 0)
    row = {
        "log10_p": -330 - 105 * attack + 250 * untrained,
        "points": 1500,
        "merged": 0,
        "contradictions": "",
        "sweeps": 40,
        "residual": 1e-7,
        "converged": rng.random() < 0.9,
        "jitter": 0.0,
        "damping": 1.0,
        "train_error": 0.4 * untrained,
        "test_error": np.clip(0.1 + 0.4 * attack + 0.3 * untrained, 0, 1),
        "train_size": 500,
    }
    return {"summary": [row]}


def sharpness(rng, attack, beyond):
    first = 2 * np.exp(attack + rng.normal(0, 0.3)) * wildness(beyond)
    rest = first * rng.uniform(-0.01, 0.1)
    row = {
        "sharpness": first + rest,
        "last": first + rest,
        "first_order": first,
        "rest": rest,
        "gradient_norm": 0.1 * first,
        "loss": 0.05 * first,
        "box": 1e-4,
        "residual": 1e-4,
        "iterations": 100,
        "converged": rng.random() < 0.9,
    }
    epoch = np.arange(101)
    rise = row["sharpness"] * (1 + row["loss"]) / 100
    value = row["loss"] + rise * (1 - np.exp(-epoch / 10)) / (1 - np.exp(-10))
    return {"summary": [row], "ascent": {"epoch_of_ascent": epoch, "value": value}}


def hessian(rng, attack, beyond):
    top = 30 * np.exp(attack + rng.normal(0, 0.2)) * wildness(beyond)
    eigenvalues = top * np.exp(-0.1 * np.arange(50))
    row = {
        "spectral_norm": top,
        "spectral_norm_residual": 1e-9,
        "log10_product": np.log10(eigenvalues).sum(),
        "positive": 50,
        "trace": eigenvalues.sum(),
        "trace_error": 0.0,
        "frobenius": np.sqrt((eigenvalues**2).sum()),
        "frobenius_error": 0.0,
        "loss": 0.1,
        "gradient_norm": 0.2,
        "residual": 1e-9,
        "iterations": 20,
        "converged": rng.random() < 0.9,
    }
    ranked = {"rank": np.arange(1, 51), "eigenvalue": eigenvalues, "residual": 1e-9}
    return {"summary": [row], "eigenvalues": ranked}


def boolean_prior(rng, attack, beyond):
    draws, probability = 1e8, 10 ** rng.uniform(-6, -2)
    row = {
        "function": "5a" * 16,
        "is_target": rng.random() < 0.9,
        "count": draws * probability,
        "draws": draws,
        "probability": probability,
        "standard_error": np.sqrt(probability / draws),
        "log10_p": np.log10(probability),
    }
    return {"summary": [row]}


def orthant(rng, attack, beyond):
    sizes = np.array([25, 50, 100, 200])
    exact = -0.3 * sizes * (1 + attack)
    row = {
        "size": sizes,
        "log10_p_ep": exact + rng.normal(0, 1e-4 * sizes),
        "residual_ep": 1e-7,
        "converged_ep": True,
        "log10_p_tilting": exact,
        "standard_error": 1e-5 * sizes,
        "residual_tilting": 1e-9,
        "converged_tilting": rng.random(len(sizes)) < 0.9,
        "log10_p_variational": exact - 0.01 * sizes,
        "residual_variational": 1e-9,
        "converged_variational": True,
    }
    return {"summary": row}


def wildness(beyond):
    """Of sharpness, along a training: it falls, and leaps up as the weights are rescaled."""
    spike = 50 * np.exp(-(beyond - RESCALED) / 40) if beyond >= RESCALED else 0
    return 1 / (1 + max(beyond, 0) / 200) + spike


MEASURES = {
    function.__name__: function
    for function in (gp_prior, sharpness, hessian, boolean_prior, orthant)
}
