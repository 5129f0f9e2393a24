"""Natural gradients: solutions x of (F + λ diag F) x = g, for a Fisher matrix F = GᵀG.

`hessian/fisher.py` explains this damping. A matrix is given by the rows of G, or by its products
with vectors and its diagonal.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

# The largest G that is stored and decomposed, in numbers: half a GiB.
NUMBERS = 2**26
# Singular values of G̃ up to this share of the largest are round-off.
ROUND_OFF = 1e-10
# A solution has converged when F̃x̃ + λx̃ equals the gradient up to this relative error.
TOLERANCE = 1e-8
ITERATIONS = 2000


@dataclass(frozen=True)
class NaturalGradients:
    """Rows x with (F + λ diag F) x = g; `residual` is the largest |(F̃ + λ) x̃ − g̃| / |g̃|."""

    x: Tensor
    residual: float
    iterations: int
    converged: bool


class DecomposedFisher:
    """F by the singular values of G̃ = G (diag F)^-½, from which every damping follows.

    G̃ᵀ = Q R has orthonormal columns in Q, so that F̃ = Q R Rᵀ Qᵀ, and only R is decomposed.
    """

    @torch.no_grad()
    def __init__(self, rows: Tensor) -> None:
        """The rows of G, which are overwritten."""
        self._unit = _or_one(rows.square().sum(0).sqrt_())
        self._basis, self._triangle = torch.linalg.qr(rows.div_(self._unit).mT)
        vectors, values, _ = torch.linalg.svd(self._triangle, full_matrices=False)
        kept = values > ROUND_OFF * values[0]
        self._values, self._vectors = values[kept], vectors[:, kept]

    @torch.no_grad()
    def solve(self, gradients: Tensor, damping: float) -> NaturalGradients:
        """Natural gradients of all rows; λ = 0 is the pseudo-inverse on F's range."""
        g = gradients / self._unit
        within = g @ self._basis
        beyond = g.addmm(within, self._basis.mT, alpha=-1)
        shares = within @ self._vectors
        y = (shares / (self._values.square() + damping)) @ self._vectors.mT
        if damping:
            y += (within - shares @ self._vectors.mT) / damping
        x = y @ self._basis.mT
        if damping:
            x.add_(beyond, alpha=1 / damping)
        off = (y @ self._triangle @ self._triangle.mT + damping * y - within).norm(dim=1)
        if not damping:
            off = torch.hypot(off, beyond.norm(dim=1))
        residual = (off / _or_one(g.norm(dim=1))).max().item()
        return NaturalGradients(x.div_(self._unit), residual, 1, residual <= TOLERANCE)


@torch.no_grad()
def by_conjugate_gradients(
    product: Callable[[Tensor], Tensor], unit: Tensor, gradients: Tensor, damping: float
) -> NaturalGradients:
    """Natural gradients of all rows, in units of (diag F)^½, from products F v for each row v."""
    unit = _or_one(unit)
    g = gradients / unit

    def matrix(x: Tensor) -> Tensor:
        return product(x / unit) / unit + damping * x

    x, left = torch.zeros_like(g), g.clone()
    direction, square = left.clone(), left.square().sum(1, keepdim=True)
    iterations = 0
    while iterations < ITERATIONS and _residual(g - left, g) > TOLERANCE / 2:
        image = matrix(direction)
        length = square / _or_one((direction * image).sum(1, keepdim=True))
        x += length * direction
        left -= length * image
        before, square = square, left.square().sum(1, keepdim=True)
        direction = left + square / _or_one(before) * direction
        iterations += 1
    residual = _residual(matrix(x), g)
    return NaturalGradients(x / unit, residual, iterations, residual <= TOLERANCE)


def _residual(found: Tensor, wanted: Tensor) -> float:
    return float(((found - wanted).norm(dim=1) / _or_one(wanted.norm(dim=1))).max())


def _or_one(values: Tensor) -> Tensor:
    """A divisor: 1 in place of 0, where the dividend is 0 too."""
    return torch.where(values == 0, 1.0, values)
