"""The ends of the spectrum of a symmetric matrix, from its products with vectors: block Lanczos.

An eigenvalue shared by several eigenvectors, such as zero, is found at most `block` times, and
again each time the search restarts.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Product = Callable[[Tensor], Tensor]

# The default: residuals up to this, relative to the spectral norm, count as converged.
TOLERANCE = 1e-8
# Round-off of vectors in float64 and in float32, relative to the spectral norm.
ROUND_OFF, SINGLE_ROUND_OFF = 1e-13, 1e-6
# A vector shorter than this many times the round-off is orthogonalized again.
SHORT = 1e6
# Steps between two tests of convergence.
TEST_INTERVAL = 10
# If one end is more than this many times the other, it alone decides the spectral norm.
FAR = 2.0
# The maximum number of steps for each requested eigenvalue. A step is one vector.
STEPS = 20


class Subspace:
    """A growing set of orthonormal vectors, and the projection of a matrix onto them.

    All vectors are kept, and each new product is made orthogonal to all of them. Otherwise an
    eigenvalue would be found again and again. `squared` is the sum of the squares of all products.
    """

    def __init__(
        self,
        product: Product,
        size: int,
        most: int,
        device: torch.device,
        light: torch.dtype | None = None,
    ) -> None:
        """An empty subspace with room for `most` vectors, which are rows.

        A `light` one has vectors of this dtype, and does not keep their products.
        """
        self._product = product
        self._basis = torch.empty(most, size, dtype=light or torch.float64, device=device)
        self._images = None if light else torch.empty_like(self._basis)
        self._projected = torch.zeros(most, most, dtype=torch.float64, device=device)
        self._begin, self.size, self.reach, self.squared = 0, 0, 0.0, 0.0

    @property
    def round_off(self) -> float:
        """The length up to which the rest of a vector is round-off."""
        return round_off_of_vectors(self._basis.dtype) * self.reach

    @property
    def basis(self) -> Tensor:
        """The vectors so far."""
        return self._basis[: self.size]

    @property
    def images(self) -> Tensor:
        """The products of the matrix with them, if they are kept."""
        assert self._images is not None
        return self._images[: self.size]

    @property
    def projected(self) -> Tensor:
        """The matrix in this basis, which is block-tridiagonal."""
        return self._projected[: self.size, : self.size]

    def leading(self, count: int) -> Tensor:
        """The unit vectors that are nearest to eigenvectors of the `count` largest eigenvalues."""
        shares = torch.linalg.eigh(self.projected).eigenvectors[:, -count:].flip(1)
        return shares.T @ self.basis.to(shares)

    def add(self, fresh: Tensor) -> Tensor:
        """Add orthonormal rows; return the part of their products outside the subspace."""
        images = self._product(fresh)
        before, begin, end = self._begin, self.size, self.size + len(fresh)
        self._begin, self.size = begin, end
        self._basis[begin:end] = fresh
        if self._images is not None:
            self._images[begin:end] = images
        lengths = images.norm(dim=1)
        self.reach = max(self.reach, lengths.max().item())
        self.squared += lengths.double().square().sum().item()
        shares = torch.zeros(len(fresh), end, dtype=images.dtype, device=images.device)
        shares[:, before:] = images @ self._basis[before:end].T
        left = images - shares[:, before:] @ self._basis[before:end]
        rest = left @ self.basis.T
        left -= rest @ self.basis
        # The part beyond the previous block is round-off, unless the basis was replaced.
        shares += rest
        self._projected[begin:end, :end] = shares
        self._projected[:end, begin:end] = shares.T
        return left


@dataclass(frozen=True)
class Spectrum:
    """The largest eigenvalues `top`, in descending order, and the lowest, `bottom`, in ascending.

    A residual is |Hv − λv| of an eigenvalue λ and its unit vector v: an exact eigenvalue is at most
    that far from λ. Others may be missing, so the one of the same rank may be further out by its
    slack. `iterations` counts the vectors that the search took.
    """

    top: Tensor
    top_residuals: Tensor
    bottom: Tensor
    bottom_residuals: Tensor
    iterations: int
    converged: bool
    top_slack: Tensor | float = 0.0
    bottom_slack: Tensor | float = 0.0

    @property
    def top_errors(self) -> Tensor:
        """How far the true eigenvalue of each rank may be."""
        return self.top_residuals + self.top_slack

    @property
    def bottom_errors(self) -> Tensor:
        """The same at the other end."""
        return self.bottom_residuals + self.bottom_slack

    @property
    def lowest(self) -> float:
        """The lowest eigenvalue."""
        return self.bottom[0].item()

    @property
    def norm(self) -> float:
        """The spectral norm: the larger |λ| of the two ends."""
        return max(self.top[0].item(), -self.lowest)

    @property
    def norm_residual(self) -> float:
        """The residual of the eigenvalue that is the spectral norm."""
        at_top = self.top[0].item() >= -self.lowest
        return (self.top_residuals if at_top else self.bottom_residuals)[0].item()


@torch.no_grad()
def search(
    product: Product,
    size: int,
    count: int,
    generator: torch.Generator,
    tolerance: float = TOLERANCE,
    block: int = 1,
    norm_alone: bool = False,
) -> Spectrum:
    """The `count` largest eigenvalues, or all there are, and the lowest, of (size, size).

    The search takes at most 20 vectors for each of the largest. `product` multiplies vectors that
    are rows, `block` of them at a time. With a larger block the search needs more vectors in total.
    `generator`, on the matrix's device, draws the first ones. With `norm_alone` the search ends
    when the spectral norm has converged; then `converged` refers to the norm, and the other
    eigenvalues may not have converged.
    """
    count = min(count, size)
    most = min(size, STEPS * count)
    space = Subspace(product, size, most, generator.device)
    fresh, next_test = random_rows(space.basis, min(block, most), generator), count
    while True:
        left = space.add(fresh)
        fresh, end = orthonormal(left, space, generator), space.size
        if end >= next_test or end == most:
            values, vectors = torch.linalg.eigh(space.projected)
            wanted = [*range(end - 1, end - 1 - count, -1), 0]
            rest = (fresh @ left.T).to(vectors)
            residuals = (rest @ vectors[end - len(left) :, wanted]).norm(dim=0)
            away = residuals[_of_norm(values[wanted], residuals)] if norm_alone else residuals
            if end == most or (away <= tolerance * values.abs().max()).all():
                break
            next_test = end + TEST_INTERVAL
        fresh = fresh[: most - end]
    found = values[wanted]
    shares = vectors[:, wanted].T
    outside = shares @ space.images - found.unsqueeze(1) * (shares @ space.basis)
    residuals = outside.norm(dim=1)
    deciding = residuals[_of_norm(found, residuals)] if norm_alone else residuals
    return Spectrum(
        top=found[:count],
        top_residuals=residuals[:count],
        bottom=found[count:],
        bottom_residuals=residuals[count:],
        iterations=end,
        converged=bool((deciding <= tolerance * found.abs().max()).all()),
    )


def _of_norm(values: Tensor, away: Tensor) -> list[int]:
    """Which of the two ends (the largest eigenvalue, the lowest) decide the spectral norm.

    Both ends do, until one is far beyond the other: a residual bounds the distance to some
    eigenvalue, not to the end of the spectrum.
    """
    sizes = values.abs()
    larger, other = (0, -1) if sizes[0] >= sizes[-1] else (-1, 0)
    return [larger] if sizes[larger] > FAR * (sizes[other] + away[other]) else [larger, other]


def round_off_of_vectors(dtype: torch.dtype) -> float:
    """The length up to which the rest of a vector is round-off, relative to the spectral norm."""
    return ROUND_OFF if dtype == torch.float64 else SINGLE_ROUND_OFF


def orthonormal(vectors: Tensor, space: Subspace, generator: torch.Generator) -> Tensor:
    """Orthonormal rows that span `vectors`, which are orthogonal to the subspace.

    If a vector adds only round-off, a random one replaces it.
    """
    basis, smallest = space.basis, space.round_off
    found, triangle = torch.linalg.qr(vectors.T)
    lengths = triangle.diagonal().abs()
    lost = lengths <= smallest
    free = min(int(lost.sum()), basis.shape[1] - len(basis))
    if free:
        kept = [vectors[~lost], random_rows(basis, free, generator)]
        found = torch.linalg.qr(torch.cat(kept).T).Q
    if (lengths <= SHORT * smallest).any():
        # Round-off is a large part of a short vector, and is not orthogonal to the basis.
        found = torch.linalg.qr(found - basis.T @ (basis @ found)).Q
    return found.T


def random_rows(basis: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Random orthonormal rows that are orthogonal to all of the basis."""
    shape = (count, basis.shape[1])
    vectors = torch.randn(shape, generator=generator, dtype=basis.dtype, device=basis.device)
    # A second pass removes the round-off that the first leaves.
    for _ in range(2):
        vectors -= (vectors @ basis.T) @ basis
        vectors = torch.linalg.qr(vectors.T).Q.T
    return vectors
