"""Estimates of a matrix's trace and Frobenius norm from its products with random signs."""

from collections.abc import Callable

import torch
from torch import Tensor

from flatlas.hessian.lanczos import Subspace
from flatlas.hessian.sampled import Sampled, mean, root

# Probes outside a subspace that share a product. It takes three quarters of the time of products
# with one probe each.
TOGETHER = 4
# The maximum number of probes, however small the tolerance.
MOST = 1000


@torch.no_grad()
def hutchinson(
    product: Callable[[Tensor], Tensor],
    size: int,
    probes: int,
    generator: torch.Generator,
    at_once: int = 1,
) -> tuple[Sampled, Sampled]:
    """The trace and the Frobenius norm of a matrix (size, size), from the same `probes`.

    For a vector z of random signs the means of z·Hz and |Hz|² are tr H and |H|² (Hutchinson, 1990).
    `product` multiplies vectors that are rows, `at_once` of them at a time.
    """
    traces, squares = torch.empty(2, probes, dtype=torch.float64)
    for some in torch.arange(probes).split(at_once):
        signs = random_signs(size, len(some), torch.float64, generator)
        images = product(signs)
        traces[some] = (signs * images).sum(1).cpu()
        squares[some] = images.square().sum(1).cpu()
    return mean(traces), root(mean(squares))


@torch.no_grad()
def deflated(
    product: Callable[[Tensor], Tensor],
    known: Subspace,
    probes: int,
    generator: torch.Generator,
    tolerance: float | None = None,
) -> tuple[Sampled, Sampled]:
    """The trace and the Frobenius norm, exact within a subspace and by `probes` outside of it.

    This is Hutch++ (Meyer et al. 2021) with the subspace of an earlier search. If that holds the
    large eigenvalues, most of the variance of Hutchinson's estimates is gone. With a `tolerance`
    further probes follow, until the trace's standard error is that small relative to it.
    """
    basis, inside = known.basis, known.projected.diagonal().sum().item()
    drawn = torch.zeros(2, probes, dtype=torch.float64)
    if len(basis) < basis.shape[1]:
        groups = torch.arange(probes).split(TOGETHER)
        drawn = torch.cat([_outside(product, basis, len(some), generator) for some in groups], 1)
    while True:
        trace, square = mean(drawn[0]), mean(drawn[1])
        trace = Sampled(inside + trace.value, trace.standard_error)
        if is_accurate(trace, tolerance) or drawn.shape[1] >= MOST:
            break
        drawn = torch.cat([drawn, _outside(product, basis, TOGETHER, generator)], 1)
    return trace, root(Sampled(known.squared + square.value, square.standard_error))


def is_accurate(found: Sampled, tolerance: float | None) -> bool:
    """Whether the standard error is this small relative to the value, if there is a tolerance."""
    return tolerance is None or found.standard_error <= tolerance * abs(found.value)


def _outside(
    product: Callable[[Tensor], Tensor], basis: Tensor, probes: int, generator: torch.Generator
) -> Tensor:
    """v·Hv and |Hv|², in two rows, for some random signs v without their part in the basis."""
    outside = random_signs(basis.shape[1], probes, basis.dtype, generator)
    outside -= (outside @ basis.T) @ basis
    images = product(outside)
    found = torch.stack([(outside * images).sum(1), images.square().sum(1)])
    return found.double().cpu()


def random_signs(size: int, count: int, dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    """Rows of random signs, drawn one by one: draws do not depend on how many share a product."""
    drawn = [
        torch.randint(2, (size,), generator=generator, device=generator.device)
        for _ in range(count)
    ]
    return 2 * torch.stack(drawn).to(dtype) - 1
