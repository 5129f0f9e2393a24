"""The ends of the spectrum of a symmetric matrix, from its products with vectors: block Lanczos.

All vectors so far are kept and each new one is made orthogonal to all of them, which keeps an
eigenvalue from being found again and again. An eigenvalue that several eigenvectors share, as they
do zero, is found at most `block` times, and again each time that the search starts over.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Product = Callable[[Tensor], Tensor]

# Residuals up to this, relative to the spectral norm, count as converged, unless it is said.
TOLERANCE = 1e-8
# What is left of a vector is round-off up to this, relative to the spectral norm.
ROUND_OFF = 1e-13
# A vector shorter than so many times that is made orthogonal to the others once more.
SHORT = 1e6
# Steps between two looks at how far the eigenvalues have come.
LOOK = 10
# So many times the other end decides on the spectral norm alone.
FAR = 2.0
# Steps at most, for each eigenvalue that is asked for. A step is one vector.
STEPS = 20


@dataclass(frozen=True)
class Spectrum:
    """The largest eigenvalues `top`, in descending order, and the `lowest`.

    A residual is |Hv − λv| of an eigenvalue λ and its unit vector v: no further from λ lies one of
    the exact eigenvalues. `iterations` counts the vectors that the search took.
    """

    top: Tensor
    top_residuals: Tensor
    lowest: float
    lowest_residual: float
    iterations: int
    converged: bool

    @property
    def norm(self) -> float:
        """The spectral norm |λ|, of whichever end is larger."""
        return max(self.top[0].item(), -self.lowest)

    @property
    def norm_residual(self) -> float:
        """The residual of that end."""
        at_top = self.top[0].item() >= -self.lowest
        return self.top_residuals[0].item() if at_top else self.lowest_residual


@torch.no_grad()
def spectrum(
    product: Product,
    size: int,
    count: int,
    generator: torch.Generator,
    tolerance: float = TOLERANCE,
    block: int = 1,
    norm_alone: bool = False,
) -> Spectrum:
    """The `count` largest eigenvalues, or all there are, of a matrix (size, size).

    `product` multiplies vectors that are rows, `block` of them at a time. With a larger block the
    search takes more of them. `generator`, on the matrix's device, draws those to begin with. With
    `norm_alone` the search ends when it has the spectral norm; `converged` says so, and the other
    eigenvalues are as far as they have come.
    """
    count = min(count, size)
    most = min(size, STEPS * count)
    basis = torch.empty(most, size, dtype=torch.float64, device=generator.device)
    images = torch.empty_like(basis)
    projected = basis.new_zeros(most, most)
    fresh = _fresh(basis[:0], min(block, most), generator)
    begin, before, look, reach = 0, 0, count, 0.0
    while True:
        end = begin + len(fresh)
        basis[begin:end] = fresh
        images[begin:end] = product(fresh)
        reach = max(reach, images[begin:end].norm(dim=1).max().item())
        shares = images[begin:end] @ basis[before:end].T
        projected[begin:end, before:end] = shares
        projected[before:end, begin:end] = shares.T
        left = images[begin:end] - shares @ basis[before:end]
        left -= (left @ basis[:end].T) @ basis[:end]
        fresh = _orthonormal(left, basis[:end], ROUND_OFF * reach, generator)
        if end >= look or end == most:
            values, vectors = torch.linalg.eigh(projected[:end, :end])
            wanted = [*range(end - 1, end - 1 - count, -1), 0]
            away = ((fresh @ left.T) @ vectors[begin:, wanted]).norm(dim=0)
            if norm_alone:
                away = away[_of_norm(values[wanted], away)]
            if end == most or (away <= tolerance * values.abs().max()).all():
                break
            look = end + LOOK
        before, begin, fresh = begin, end, fresh[: most - end]
    found = values[wanted]
    shares = vectors[:, wanted].T
    residuals = (shares @ images[:end] - found.unsqueeze(1) * (shares @ basis[:end])).norm(dim=1)
    deciding = residuals[_of_norm(found, residuals)] if norm_alone else residuals
    return Spectrum(
        top=found[:-1],
        top_residuals=residuals[:-1],
        lowest=found[-1].item(),
        lowest_residual=residuals[-1].item(),
        iterations=end,
        converged=bool((deciding <= tolerance * found.abs().max()).all()),
    )


def _of_norm(values: Tensor, away: Tensor) -> list[int]:
    """Which of these, the largest first and the lowest last, decide on the spectral norm.

    Both ends, until one is far beyond the other: a residual bounds the distance to some eigenvalue,
    not to the end of the spectrum.
    """
    sizes = values.abs()
    larger, other = (0, -1) if sizes[0] >= sizes[-1] else (-1, 0)
    return [larger] if sizes[larger] > FAR * (sizes[other] + away[other]) else [larger, other]


def _orthonormal(
    vectors: Tensor, basis: Tensor, smallest: float, generator: torch.Generator
) -> Tensor:
    """Orthonormal rows that span `vectors`, which are orthogonal to all of the basis.

    Where a vector has nothing to add that is larger than round-off, a random one takes its place.
    """
    found, triangle = torch.linalg.qr(vectors.T)
    lengths = triangle.diagonal().abs()
    lost = lengths <= smallest
    free = min(int(lost.sum()), basis.shape[1] - len(basis))
    if free:
        kept = [vectors[~lost], _fresh(basis, free, generator)]
        found = torch.linalg.qr(torch.cat(kept).T).Q
    if (lengths <= SHORT * smallest).any():
        # Of a short vector round-off is a large part, and not orthogonal to the basis.
        found = torch.linalg.qr(found - basis.T @ (basis @ found)).Q
    return found.T


def _fresh(basis: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Random orthonormal rows that are orthogonal to all of the basis."""
    shape = (count, basis.shape[1])
    vectors = torch.randn(shape, generator=generator, dtype=basis.dtype, device=basis.device)
    # What a first pass leaves of round-off, a second takes away.
    for _ in range(2):
        vectors -= (vectors @ basis.T) @ basis
        vectors = torch.linalg.qr(vectors.T).Q.T
    return vectors
