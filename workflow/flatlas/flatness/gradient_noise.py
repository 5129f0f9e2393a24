"""The noise of minibatch gradients: its trace, its scale, and how much of it is along the Hessian.

Σ is the covariance of the gradients of single examples, whose mean is ∇L. It is estimated from
batches: if they are drawn at random without replacement, Σ_b m_b |g_b − ∇L|² / (B − 1) has the mean
tr Σ, where g_b is the mean gradient of the m_b examples of one of B batches.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np
import torch
from torch import Tensor

from flatlas.flatness.loss import Loss
from flatlas.hessian.complete import complete_search
from flatlas.hessian.round_off import with_round_off
from flatlas.hessian.sampled import Sampled, mean


@dataclass(frozen=True)
class GradientNoise:
    """tr Σ, the simple noise scale tr Σ / |∇L|² (McCandlish et al. 2018), and parts of tr Σ.

    `along` are the variances along the unit eigenvectors of the largest `eigenvalues` of the
    Hessian, and `share` is their share of the trace. `residuals` and `converged` refer to the
    eigenvectors. Standard errors are those of independent batches.
    """

    trace: Sampled
    scale: Sampled
    share: Sampled
    along: np.ndarray
    eigenvalues: np.ndarray
    residuals: np.ndarray
    gradient_norm: float
    iterations: int
    converged: bool


def gradient_noise(
    loss: Loss,
    parts: Iterable[Loss],
    examples: Sequence[int],
    top: int,
    tolerance: float,
    generator: torch.Generator,
    round_off: float = 0.0,
) -> GradientNoise:
    """The noise of `parts`, the losses of batches of so many `examples`; their mean is the loss.

    `round_off` is that of products, relative to the largest eigenvalue.
    """
    gradient = loss.value_and_gradient(loss.w)[1]
    found, space = complete_search(
        loss.hessian_product, loss.size, top, generator, tolerance, torch.float64, bottom=0
    )
    found = with_round_off(found, round_off, tolerance)
    directions = space.leading(len(found.top))
    squares, along = _deviations(loss.w, gradient, parts, examples, directions)
    trace, inside = _mean(squares), along.sum(1)
    share = (inside.mean() / trace.value).item() if trace.value else 0.0
    # The error of a ratio, to first order.
    of_share = _mean(inside - share * squares).standard_error
    size = gradient.square().sum().item()
    return GradientNoise(
        trace=trace,
        scale=_over(trace, size),
        share=Sampled(share, of_share / trace.value if trace.value else 0.0),
        along=along.mean(0).numpy(),
        eigenvalues=found.top.cpu().numpy(),
        residuals=found.top_residuals.cpu().numpy(),
        gradient_norm=size**0.5,
        iterations=found.iterations,
        converged=found.converged,
    )


def _over(trace: Sampled, size: float) -> Sampled:
    """An estimate divided by a known number: infinite if that is 0, and unknown if both are."""
    if size:
        return Sampled(trace.value / size, trace.standard_error / size)
    undefined = inf if trace.value else nan
    return Sampled(undefined, undefined)


def _mean(of_batches: Tensor) -> Sampled:
    """The mean; its error is unknown for two batches: each deviation from ∇L gives the other."""
    found = mean(of_batches)
    return Sampled(found.value, inf) if len(of_batches) == 2 else found


def _deviations(
    w: Tensor,
    gradient: Tensor,
    parts: Iterable[Loss],
    examples: Sequence[int],
    directions: Tensor,
) -> tuple[Tensor, Tensor]:
    """Each batch's m_b |g_b − ∇L|² B/(B − 1), and the same along each direction."""
    count, total = len(examples), sum(examples)
    squares, along = [], []
    for part, own in zip(parts, examples, strict=True):
        # The mean over parts is ∇L, and so is the mean over examples.
        mean_gradient = part.value_and_gradient(w)[1] * total / (count * own)
        away = mean_gradient - gradient
        weight = own * count / (count - 1)
        squares.append(weight * away.square().sum().cpu())
        along.append(weight * (directions @ away).square().cpu())
    return torch.stack(squares), torch.stack(along)
