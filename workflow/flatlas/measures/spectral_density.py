"""The spectral density of the Hessian of the mean loss on S, and how many eigenvalues stand out."""

from collections.abc import Mapping
from typing import Any

from pandas import DataFrame

from flatlas.hessian import hessian_of
from flatlas.hessian.density import spectral_density
from flatlas.measures.clean import on_clean
from flatlas.measures.solution import Solution


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`density` has φ at the `eigenvalue`s of a grid, smoothed with a normal kernel.

    The kernel's `width` is relative to the spectral norm. `summary` is one row: trace and Frobenius
    norm from the first two moments of all `probes`, each with its standard error; `bulk`, the share
    of eigenvalues near 0; `outliers`, the number of `top` eigenvalues beyond the `edge`. If all of
    them are beyond it, there may be more, and the measure has not converged.
    """
    solution = on_clean(solution)
    hessian = hessian_of(solution.net, solution.parameters, solution.inputs, solution.labels)
    given = {key: options[key] for key in ("top", "probes", "steps", "tolerance", "width")}
    random = solution.generator("spectral density")
    found = spectral_density(hessian.product, hessian.size, **given, generator=random)
    summary = {
        "size": hessian.size,
        "width": found.width,
        "trace": found.trace.value,
        "trace_error": found.trace.standard_error,
        "frobenius": found.frobenius.value,
        "frobenius_error": found.frobenius.standard_error,
        "spectral_norm": found.ends.norm,
        "lowest": found.ends.lowest,
        "edge": found.edge,
        "outliers": found.outliers,
        "bulk": found.bulk.value,
        "bulk_error": found.bulk.standard_error,
        "residual": found.ends.top_residuals.max().item(),
        "iterations": found.ends.iterations,
        "converged": found.converged,
    }
    return {
        "density": DataFrame({"eigenvalue": found.grid, "density": found.density}),
        "summary": DataFrame([summary]),
    }
