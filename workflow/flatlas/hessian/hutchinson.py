"""Estimates of a matrix's trace and Frobenius norm from its products with random signs."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from flatlas.hessian.lanczos import Subspace


@dataclass(frozen=True)
class Estimate:
    """A mean over random vectors, with its standard error."""

    value: float
    standard_error: float


@torch.no_grad()
def hutchinson(
    product: Callable[[Tensor], Tensor],
    size: int,
    probes: int,
    generator: torch.Generator,
    at_once: int = 1,
) -> tuple[Estimate, Estimate]:
    """The trace and the Frobenius norm of a matrix (size, size), from the same `probes`.

    For a vector z of random signs the means of z·Hz and |Hz|² are tr H and |H|² (Hutchinson, 1990).
    `product` multiplies vectors that are rows, `at_once` of them at a time.
    """
    traces, squares = torch.empty(2, probes, dtype=torch.float64)
    for some in torch.arange(probes).split(at_once):
        # Probes are drawn one by one, so that draws do not depend on how many share a product.
        drawn = [
            torch.randint(2, (size,), generator=generator, device=generator.device) for _ in some
        ]
        signs = 2 * torch.stack(drawn).double() - 1
        images = product(signs)
        traces[some] = (signs * images).sum(1).cpu()
        squares[some] = images.square().sum(1).cpu()
    trace, square = mean(traces), mean(squares)
    norm = square.value**0.5
    return trace, Estimate(norm, square.standard_error / (2 * norm) if norm else 0.0)


@torch.no_grad()
def deflated(
    product: Callable[[Tensor], Tensor], known: Subspace, probes: int, generator: torch.Generator
) -> tuple[Estimate, Estimate]:
    """The trace and the Frobenius norm, exact within a subspace and by `probes` outside of it.

    This is Hutch++ (Meyer et al. 2021) with the subspace of an earlier search. If that holds the
    large eigenvalues, most of the variance of Hutchinson's estimates is gone.
    """
    basis, room = known.basis, known.basis.shape[1] - len(known.basis)
    inside, squared = known.projected.diagonal().sum().item(), known.images.square().sum().item()
    traces, squares = torch.zeros(2, probes, dtype=torch.float64)
    for probe in range(probes) if room else ():
        signs = torch.randint(2, basis.shape[1:], generator=generator, device=basis.device)
        outside = 2 * signs.double() - 1
        outside -= (outside @ basis.T) @ basis
        (image,) = product(outside.unsqueeze(0))
        traces[probe], squares[probe] = outside @ image, image.square().sum()
    trace, square = mean(traces), mean(squares)
    norm = (squared + square.value) ** 0.5
    error = square.standard_error / (2 * norm) if norm else 0.0
    return Estimate(inside + trace.value, trace.standard_error), Estimate(norm, error)


def mean(drawn: Tensor) -> Estimate:
    """The mean of independent numbers."""
    return Estimate(drawn.mean().item(), drawn.std().item() / len(drawn) ** 0.5)
