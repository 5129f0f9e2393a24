"""Three measures of the Hessian's sharpness: spectral norm, trace and Frobenius norm."""

from dataclasses import dataclass

import torch

from flatlas.hessian.dense import DenseHessian
from flatlas.hessian.free import FreeHessian
from flatlas.hessian.hutchinson import hutchinson
from flatlas.hessian.lanczos import TOLERANCE, Spectrum, search
from flatlas.hessian.sampled import Sampled

# With more images times outputs than this, the exact Frobenius norm, a sum over pairs of them,
# takes longer than its estimate: at 10,000 half a minute of one core instead of half a second.
EXACT = 5_000
# From this many eigenvalues Lanczos takes two vectors at a time. A tenth more vectors then cost
# less, because a product of a dense net's Hessian with two takes less than two products.
MANY = 20


@dataclass(frozen=True)
class Norms:
    """The ends of the spectrum, with the spectral norm; the trace and the Frobenius norm."""

    spectrum: Spectrum
    trace: Sampled
    frobenius: Sampled


def norms(
    hessian: DenseHessian | FreeHessian,
    top: int,
    probes: int,
    random: torch.Generator,
    tolerance: float = TOLERANCE,
) -> Norms:
    """All norms, from the `top` eigenvalues and, without a closed form, from `probes`."""
    if isinstance(hessian, DenseHessian):
        hessian = hessian.reduced()
    found = ends(hessian, top, random, tolerance)
    if isinstance(hessian, FreeHessian):
        return Norms(found, *_estimates(hessian, probes, random))
    trace = Sampled(hessian.trace(), 0.0)
    if hessian.rows <= EXACT:
        return Norms(found, trace, Sampled(hessian.frobenius(), 0.0))
    return Norms(found, trace, _estimates(hessian, probes, random)[1])


def norm_and_trace(
    hessian: DenseHessian | FreeHessian, top: int, probes: int, random: torch.Generator
) -> tuple[Spectrum, Sampled]:
    """Only the spectral norm and the trace; of the eigenvalues, only the norm has converged."""
    if isinstance(hessian, DenseHessian):
        hessian = hessian.reduced()
    found = search(hessian.product, hessian.size, top, random, norm_alone=True)
    if isinstance(hessian, DenseHessian):
        return found, Sampled(hessian.trace(), 0.0)
    return found, _estimates(hessian, probes, random)[0]


def ends(
    hessian: DenseHessian | FreeHessian,
    top: int,
    random: torch.Generator,
    tolerance: float = TOLERANCE,
) -> Spectrum:
    """The ends of the spectrum, with the block size that suits the Hessian."""
    block = 2 if isinstance(hessian, DenseHessian) and top >= MANY else 1
    return search(hessian.product, hessian.size, top, random, tolerance, block)


def _estimates(
    hessian: DenseHessian | FreeHessian, probes: int, random: torch.Generator
) -> tuple[Sampled, Sampled]:
    """The trace and the Frobenius norm, from `probes`."""
    return hutchinson(hessian.product, hessian.size, probes, random, hessian.at_once)
