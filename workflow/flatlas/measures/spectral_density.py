"""The spectral density of the Hessian of the mean loss on S, and how many eigenvalues stand out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from pandas import DataFrame

from flatlas.hessian import hessian_of
from flatlas.hessian.lanczos import Spectrum, spectrum
from flatlas.hessian.quadrature import Quadrature, quadrature
from flatlas.measures.clean import on_clean
from flatlas.measures.solution import Solution
from flatlas.seeds import stream

# Grid points for each width of the kernel, and the widths by which the grid exceeds the ends.
FINENESS, MARGIN = 4, 6
# An eigenvalue is an outlier if it is further from 0 than this many standard deviations of all.
DEVIATIONS = 6
# Eigenvalues this close to 0, relative to the spectral norm, are the bulk.
NEAR_ZERO = 0.01


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`density` has φ at the `eigenvalue`s of a grid, smoothed with a normal kernel.

    The kernel's `width` is relative to the spectral norm. `summary` is one row: trace and Frobenius
    norm from the first two moments of all `probes`, each with its standard error; `bulk`, the share
    of eigenvalues near 0; `outliers`, the number of `top` eigenvalues beyond the `edge`.
    """
    solution = on_clean(solution)
    hessian = hessian_of(solution.net, solution.parameters, solution.inputs, solution.labels)
    seed = stream(solution.seed, "spectral density")
    random = torch.Generator(solution.inputs.device).manual_seed(seed)
    size, product = hessian.size, hessian.product
    found = quadrature(product, size, options["probes"], options["steps"], random)
    ends = spectrum(product, size, options["top"], random, options["tolerance"])
    width = options["width"] * ends.norm
    low, high = ends.lowest - MARGIN * width, ends.top[0].item() + MARGIN * width
    grid = np.linspace(low, high, int(FINENESS * (high - low) / width) + 1) if width else [0.0]
    density = found.density(np.asarray(grid), width) if width else np.full(1, np.inf)
    summary = {"size": size, "width": width, **_moments(found), **_standing_out(found, ends)}
    return {
        "density": DataFrame({"eigenvalue": grid, "density": density}),
        "summary": DataFrame([summary]),
    }


def _moments(found: Quadrature) -> dict[str, float]:
    first, second = found.moment(1), found.moment(2)
    norm = (found.size * second.value) ** 0.5
    return {
        "trace": found.size * first.value,
        "trace_error": found.size * first.standard_error,
        "frobenius": norm,
        "frobenius_error": found.size * second.standard_error / (2 * norm) if norm else 0.0,
    }


def _standing_out(found: Quadrature, ends: Spectrum) -> dict[str, float | int | bool]:
    """The outliers and the bulk. Not converged if all `top` eigenvalues are outliers.

    In that case there may be more outliers.
    """
    edge = DEVIATIONS * max(0.0, found.moment(2).value - found.moment(1).value ** 2) ** 0.5
    outliers = int((ends.top > edge).sum())
    bulk = found.share(-NEAR_ZERO * ends.norm, NEAR_ZERO * ends.norm)
    return {
        "spectral_norm": ends.norm,
        "lowest": ends.lowest,
        "edge": edge,
        "outliers": outliers,
        "bulk": bulk.value,
        "bulk_error": bulk.standard_error,
        "residual": ends.top_residuals.max().item(),
        "iterations": ends.iterations,
        "converged": ends.converged and outliers < len(ends.top),
    }
