"""Made-up tables of the study `false_friend`: the more L2, the sharper."""

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
    ranked = {"rank": [1, 2], "eigenvalue": [size, size / 2], "residual": 1e-6}
    return {"summary": [of_size(size) | {"converged": rng.random() < 0.9}], "eigenvalues": ranked}


def of_size(size):
    """The norms of a Hessian, whose other eigenvalues were not all found."""
    row = {"spectral_norm": size, "trace": 9 * size, "frobenius": 2 * size}
    row |= {"spectral_norm_residual": 1e-6 * size, "trace_error": 0.0, "frobenius_error": 0.02}
    return row | {"loss": 0.1, "gradient_norm": 0.1, "residual": 1e-6, "converged": False}


def density(rng, size):
    eigenvalue = np.linspace(-0.06, 1.06, 60) * size
    shape = np.exp(-((20 * eigenvalue / size) ** 2)) + 1e-3
    row = spectrum(rng.integers(3, 12), 0.97, size) | {"converged": rng.random() < 0.9}
    return {"density": {"eigenvalue": eigenvalue, "density": shape / size}, "summary": [row]}


def spectrum(outliers, bulk, size=1.0):
    row = {"size": 1000, "width": 0.01 * size, "spectral_norm": size, "edge": 0.1 * size}
    row |= {"outliers": outliers, "bulk": bulk, "bulk_error": 0.01, "lowest": 0.0}
    return row | {"residual": 1e-6, "iterations": 30, "converged": True}


def scaling(rng, size):
    falls = size * FACTORS**2 * np.exp(-2 * FACTORS)
    return {"summary": scaled(FACTORS, falls, falls * (1 + 1 / FACTORS))}


def scaled(factors, measured, predicted):
    """Loss and norms of a net times each factor, each a multiple of these."""
    rows = {"factor": factors, "weight_norm": 5 * factors, "depth": 2, "least_margin": 1.0}
    rows |= {"misclassified": 0, "frobenius_error": 0.01, "residual": 1e-6, "iterations": 20}
    for place, name in enumerate(("loss", "spectral_norm", "trace", "frobenius"), start=1):
        rows |= {name: place * measured, f"{name}_predicted": place * predicted}
    return rows | {"converged": True}


MEASURES = {"norms": norms, "density": density, "scaling": scaling}
