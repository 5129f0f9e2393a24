"""The spectral density of a symmetric matrix, by stochastic Lanczos quadrature.

φ(t) = (1/P) Σ_i δ(t − λ_i) is the mean over random probes v of Σ_i (v·φ_i)² δ(t − λ_i)/|v|². Some
steps of Lanczos from v approximate each of these by a sum over few nodes θ, the eigenvalues of a
tridiagonal matrix, with the squared first entries of its eigenvectors as weights (Golub & Welsch
1969; Lin, Saad & Yang 2016). Its moments up to twice the number of steps minus one are exact for
the probe.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from flatlas.hessian.hutchinson import Estimate, mean
from flatlas.hessian.lanczos import ROUND_OFF, Product, Subspace


@dataclass(frozen=True)
class Quadrature:
    """Nodes θ and weights (probes, steps) of a matrix of this `size`; each probe's add up to 1."""

    size: int
    nodes: np.ndarray
    weights: np.ndarray

    @property
    def reach(self) -> float:
        """The largest |θ|, which approaches the spectral norm with many steps."""
        return float(np.abs(self.nodes).max())

    def moment(self, power: int) -> Estimate:
        """∫ φ(t) t^power dt."""
        return self._mean(self.nodes**power)

    def share(self, low: float, high: float) -> Estimate:
        """The share of the eigenvalues from `low` to `high`."""
        return self._mean((self.nodes >= low) & (self.nodes <= high))

    def density(self, grid: np.ndarray, width: float) -> np.ndarray:
        """φ on a grid, with each node smoothed by a normal distribution of this `width`."""
        away = (grid[:, None] - self.nodes.ravel()) / width
        seen = np.exp(-(away**2) / 2) / (width * np.sqrt(2 * np.pi))
        return np.asarray(seen @ self.weights.ravel() / len(self.weights))

    def _mean(self, values: np.ndarray) -> Estimate:
        return mean(torch.as_tensor((self.weights * values).sum(1)))


@torch.no_grad()
def quadrature(
    product: Product, size: int, probes: int, steps: int, generator: torch.Generator
) -> Quadrature:
    """The quadrature from `probes` vectors of random signs, with up to `steps` products each.

    `product` multiplies vectors that are rows; `generator` is on the matrix's device.
    """
    nodes, weights = np.zeros((2, probes, min(steps, size)))
    for probe in range(probes):
        drawn = torch.randint(2, (size,), generator=generator, device=generator.device)
        space = _grown(product, 2 * drawn.double() - 1, nodes.shape[1])
        values, vectors = torch.linalg.eigh(space.projected)
        # If the search ends early, the rest of a row has no weight.
        nodes[probe, : len(values)] = values.cpu()
        weights[probe, : len(values)] = vectors[0].square().cpu()
    return Quadrature(size, nodes, weights)


def _grown(product: Product, start: Tensor, steps: int) -> Subspace:
    """The subspace that grows from `start`, in which the matrix is tridiagonal."""
    space = Subspace(product, len(start), steps, start.device)
    left = start.unsqueeze(0)
    while space.size < steps and left.norm() > ROUND_OFF * space.reach:
        left = space.add(left / left.norm())
    return space
