"""Estimates of a matrix's trace and Frobenius norm from its products with random signs."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Estimate:
    """A mean over random vectors, with its standard error."""

    value: float
    standard_error: float


@torch.no_grad()
def hutchinson(
    product: Callable[[Tensor], Tensor], size: int, probes: int, generator: torch.Generator
) -> tuple[Estimate, Estimate]:
    """The trace and the Frobenius norm of a matrix (size, size), from the same `probes`.

    For a vector z of random signs the means of z·Hz and |Hz|² are tr H and |H|² (Hutchinson, 1990).
    """
    traces, squares = torch.empty(2, probes, dtype=torch.float64)
    for probe in range(probes):
        drawn = torch.randint(2, (1, size), generator=generator, device=generator.device)
        signs = 2 * drawn.double() - 1
        image = product(signs)
        traces[probe], squares[probe] = (signs * image).sum(), image.square().sum()
    trace, square = mean(traces), mean(squares)
    norm = square.value**0.5
    return trace, Estimate(norm, square.standard_error / (2 * norm) if norm else 0.0)


def mean(drawn: Tensor) -> Estimate:
    """The mean of independent numbers."""
    return Estimate(drawn.mean().item(), drawn.std().item() / len(drawn) ** 0.5)
