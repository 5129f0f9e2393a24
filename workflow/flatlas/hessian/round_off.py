"""Round-off of products with a matrix: how large it is, and what it adds to errors."""

from dataclasses import replace

import torch

from flatlas.hessian.lanczos import ROUND_OFF, Spectrum

# Products in float32 are accurate to this share of the largest eigenvalue. The workflow refuses
# smaller tolerances (plan/measurements/curvature.py).
SINGLE = 1e-4
# The largest round-off of products, relative to the largest eigenvalue, with which a number of no
# tolerance of its own has converged. That of half precision is larger.
COARSE = 1e-3


def of_products(eps: float) -> float:
    """The round-off of products that numbers of this eps make, relative to the largest |λ|."""
    if eps <= torch.finfo(torch.float64).eps:
        return ROUND_OFF
    return SINGLE * eps / torch.finfo(torch.float32).eps


def with_round_off(found: Spectrum, round_off: float, tolerance: float) -> Spectrum:
    """The spectrum with residuals of at least this round-off, relative to the largest |λ|.

    Errors grow by it. If it is larger than the tolerance, nothing has converged.
    """
    least = round_off * torch.cat([found.top, found.bottom]).abs().max().item()
    return replace(
        found,
        # Errors are the sum of residuals and slacks.
        top_slack=found.top_slack + found.top_residuals.clamp_max(least),
        bottom_slack=found.bottom_slack + found.bottom_residuals.clamp_max(least),
        top_residuals=found.top_residuals.clamp_min(least),
        bottom_residuals=found.bottom_residuals.clamp_min(least),
        converged=found.converged and round_off <= tolerance,
    )
