"""The ends of the spectrum of a symmetric matrix, from its products with vectors: Lanczos.

All vectors so far are kept and each new one is made orthogonal to all of them, which keeps an
eigenvalue from being found again and again. One that several eigenvectors share, as they do zero,
is found once, and once more each time that the search has to begin anew.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.linalg import eigh_tridiagonal
from torch import Tensor

Product = Callable[[Tensor], Tensor]

# Residuals up to this, relative to the spectral norm, count as converged, unless it is said.
TOLERANCE = 1e-8
# What is left of a vector is round-off up to this, relative to the spectral norm.
ROUND_OFF = 1e-13
# Steps between two looks at how far the eigenvalues have come.
LOOK = 10
# Steps at most, for each eigenvalue that is asked for.
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
    norm_alone: bool = False,
) -> Spectrum:
    """The `count` largest eigenvalues, or all there are, of a matrix (size, size).

    `product` multiplies vectors that are rows; `generator`, on the matrix's device, draws the one
    to begin with. With `norm_alone` the search ends when it has the spectral norm; `converged`
    says so, and the other eigenvalues are as far as they have come.
    """
    count = min(count, size)
    device = generator.device
    basis = torch.empty(min(size, STEPS * count), size, dtype=torch.float64, device=device)
    images = torch.empty_like(basis)
    diagonal, beside = np.zeros(len(basis)), np.zeros(len(basis))
    left, length, reach = basis.new_zeros(size), 0.0, 0.0
    for step in range(len(basis)):
        basis[step] = left / length if length else _fresh(basis[:step], generator)
        images[step] = product(basis[step : step + 1]).squeeze(0)
        reach = max(reach, images[step].norm().item())
        diagonal[step] = (basis[step] @ images[step]).item()
        left = images[step] - diagonal[step] * basis[step]
        if length:
            left -= length * basis[step - 1]
        left -= (basis[: step + 1] @ left) @ basis[: step + 1]
        length = left.norm().item()
        length = length if length > ROUND_OFF * reach else 0.0
        beside[step] = length
        steps = step + 1
        if steps >= count and (steps % LOOK == 0 or steps == len(basis)):
            values, vectors = eigh_tridiagonal(diagonal[:steps], beside[:step])
            wanted = [*range(steps - 1, steps - 1 - count, -1), 0]
            off = length * abs(vectors[-1, wanted])
            if norm_alone:
                off = off[_of_norm(values[wanted], off)]
            if np.all(off <= tolerance * abs(values).max()):
                break
    found = torch.as_tensor(values[wanted], device=device)
    shares = torch.as_tensor(vectors[:, wanted].T, device=device)
    away = shares @ images[:steps] - found.unsqueeze(1) * (shares @ basis[:steps])
    residuals = away.norm(dim=1)
    deciding = residuals
    if norm_alone:
        deciding = residuals[_of_norm(values[wanted], residuals.cpu().numpy())]
    return Spectrum(
        top=found[:-1],
        top_residuals=residuals[:-1],
        lowest=found[-1].item(),
        lowest_residual=residuals[-1].item(),
        iterations=steps,
        converged=bool((deciding <= tolerance * found.abs().max()).all()),
    )


def _of_norm(values: np.ndarray, off: np.ndarray) -> list[int]:
    """Which of these, the largest first and the lowest last, decide on the spectral norm.

    Both ends, until one is beyond the other, whatever that one's residual.
    """
    sizes = abs(values)
    larger, other = (0, -1) if sizes[0] >= sizes[-1] else (-1, 0)
    return [larger] if sizes[larger] > sizes[other] + off[other] else [larger, other]


def _fresh(basis: Tensor, generator: torch.Generator) -> Tensor:
    """A random unit vector that is orthogonal to all of the basis."""
    vector = torch.randn(
        basis.shape[1], generator=generator, dtype=basis.dtype, device=basis.device
    )
    # What a first pass leaves of round-off, a second takes away.
    for _ in range(2):
        vector -= (basis @ vector) @ basis
        vector /= vector.norm()
    return vector
