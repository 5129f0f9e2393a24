"""Tables of the study `false_friend`, made up as in `made_up`: the more L2, the sharper."""

import numpy as np
from side_by_side import joined

# What the study calls its measures, and the moments at which the first is taken.
NAMES = ("norms", "density", "scaling")
MOMENTS = {"1": 1, "5": 5, "20": 20, "final": 60}
FACTORS = np.array([0.25, 0.5, 1.0, 2.0, 4.0])


def taken(name, rng, strength):
    """The tables of a net, at all moments that the study asks of that measure."""
    size = np.exp(2 * strength.get("penalty.coefficient", 0.0) + rng.normal(0, 0.1))
    moments = MOMENTS if name == "norms" else {"final": 60}
    parts = {}
    for at, epoch in moments.items():
        for table, rows in MEASURES[name](rng, size * (1 + 20 / epoch)).items():
            parts.setdefault(table, []).append(({"at": at, "epoch": epoch}, rows))
    return {table: joined(rows) for table, rows in parts.items()}


def norms(rng, size):
    row = {
        "spectral_norm": size,
        "spectral_norm_residual": 1e-6,
        "trace": 9 * size,
        "trace_error": 0.0,
        "frobenius": 2 * size,
        "frobenius_error": 0.02,
        "loss": 0.1,
        "gradient_norm": 0.1,
        "residual": 1e-6,
        "iterations": 30,
        "converged": rng.random() < 0.9,
    }
    ranked = {"rank": [1, 2], "eigenvalue": [size, size / 2], "residual": 1e-6}
    return {"summary": [row], "eigenvalues": ranked}


def density(rng, size):
    eigenvalue = np.linspace(-0.06, 1.06, 60) * size
    row = {
        "size": 1000,
        "width": 0.01 * size,
        "spectral_norm": size,
        "lowest": 0.0,
        "edge": 0.1 * size,
        "outliers": rng.integers(3, 12),
        "bulk": 0.97,
        "bulk_error": 0.01,
        "residual": 1e-6,
        "iterations": 30,
        "converged": rng.random() < 0.9,
    }
    shape = np.exp(-((20 * eigenvalue / size) ** 2)) + 1e-3
    return {"density": {"eigenvalue": eigenvalue, "density": shape / size}, "summary": [row]}


def scaling(rng, size):
    falls = size * FACTORS**2 * np.exp(-2 * FACTORS)
    rows = {
        "factor": FACTORS,
        "depth": 2,
        "weight_norm": 5 * FACTORS,
        "least_margin": 1.0,
        "misclassified": 0,
        "frobenius_error": 0.01,
        "residual": 1e-6,
        "iterations": 20,
        "converged": True,
    }
    for place, name in enumerate(("loss", "spectral_norm", "trace", "frobenius"), start=1):
        rows |= {name: place * falls, f"{name}_predicted": place * falls * (1 + 1 / FACTORS)}
    return {"summary": rows}


MEASURES = {"norms": norms, "density": density, "scaling": scaling}
