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

from flatlas.hessian.hutchinson import TOGETHER, random_signs
from flatlas.hessian.lanczos import Product, Subspace, round_off_of_vectors
from flatlas.hessian.sampled import Sampled, mean


@dataclass(frozen=True)
class Quadrature:
    """Nodes θ and weights (probes, steps) of a matrix of this `size`; each probe's add up to 1."""

    size: int
    nodes: np.ndarray
    weights: np.ndarray

    def moment(self, power: int) -> Sampled:
        """∫ φ(t) t^power dt."""
        return self._mean(self.nodes**power)

    def share(self, low: float, high: float) -> Sampled:
        """The share of the eigenvalues from `low` to `high`."""
        return self._mean((self.nodes >= low) & (self.nodes <= high))

    def density(self, grid: np.ndarray, width: float) -> np.ndarray:
        """φ on a grid, with each node smoothed by a normal distribution of this `width`."""
        away = (grid[:, None] - self.nodes.ravel()) / width
        seen = np.exp(-(away**2) / 2) / (width * np.sqrt(2 * np.pi))
        return np.asarray(seen @ self.weights.ravel() / len(self.weights))

    def _mean(self, values: np.ndarray) -> Sampled:
        return mean(torch.from_numpy((self.weights * values).sum(1)))


@torch.no_grad()
def quadrature(
    product: Product,
    size: int,
    probes: int,
    steps: int,
    generator: torch.Generator,
    light: torch.dtype | None = None,
) -> Quadrature:
    """The quadrature from `probes` vectors of random signs, with up to `steps` products each.

    `product` multiplies vectors that are rows; `generator` is on the matrix's device. If `light`,
    vectors are of this dtype, some probes share each product, and only their last vectors are kept.
    """
    nodes, weights = np.zeros((2, probes, min(steps, size)))
    for some in torch.arange(probes).split(TOGETHER if light else 1):
        starts = random_signs(size, len(some), light or torch.float64, generator) / size**0.5
        if light:
            grown = _recurred(product, starts, nodes.shape[1])
        else:
            grown = _grown(product, starts, nodes.shape[1]).unsqueeze(0)
        for probe, projected in zip(some, grown, strict=True):
            values, vectors = torch.linalg.eigh(projected)
            # If the search ends early, the rest of a row has no weight.
            nodes[probe, : len(values)] = values.cpu()
            weights[probe, : len(values)] = vectors[0].square().cpu()
    return Quadrature(size, nodes, weights)


def _grown(product: Product, start: Tensor, steps: int) -> Tensor:
    """The matrix, tridiagonal, in the subspace that grows from one row."""
    space, fresh = Subspace(product, start.shape[1], steps, start.device), start
    left = space.add(fresh)
    while space.size < steps and left.norm() > space.round_off:
        left = space.add(left / left.norm())
    return space.projected


def _recurred(product: Product, starts: Tensor, steps: int) -> Tensor:
    """The same from each row by the three-term recurrence, whose vectors don't stay orthogonal.

    Nodes may then repeat, and their weights add up to the weight of one (Greenbaum 1989). A row
    with nothing left gets further nodes without weight.
    """
    found = torch.zeros(len(starts), steps, steps, dtype=torch.float64, device=starts.device)
    before, now, length = torch.zeros_like(starts), starts, starts.new_zeros(len(starts), 1)
    reach = length
    for step in range(steps):
        left = product(now)
        reach = reach.maximum(left.norm(dim=1, keepdim=True))
        along = (left * now).sum(1, keepdim=True)
        left = left - along * now - length * before
        length = left.norm(dim=1, keepdim=True)
        length = length.where(length > round_off_of_vectors(left.dtype) * reach, 0)
        found[:, step, step] = along.squeeze(1)
        if step + 1 == steps or not length.any():
            break
        found[:, step + 1, step] = found[:, step, step + 1] = length.squeeze(1)
        before, now = now, (left / length).where(length > 0, 0)
    return found
