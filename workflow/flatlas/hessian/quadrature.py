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

from flatlas.hessian.hutchinson import TOGETHER, Estimate, mean
from flatlas.hessian.lanczos import Product, Spectrum, Subspace


@dataclass(frozen=True)
class Quadrature:
    """Nodes θ and weights (probes, steps) of a matrix of this `size`; each probe's add up to 1.

    A residual is |Hv − θv| of the unit vector v that a probe has for a node; inf if it has none.
    """

    size: int
    nodes: np.ndarray
    weights: np.ndarray
    residuals: np.ndarray

    @property
    def steps(self) -> int:
        """The number of nodes of a probe."""
        return self.nodes.shape[1]

    @property
    def reach(self) -> float:
        """The largest |θ|, which approaches the spectral norm with many steps."""
        return float(np.abs(self.nodes).max())

    def ends(self, count: int, tolerance: float) -> Spectrum:
        """The `count` largest eigenvalues and the lowest, from the probe that has them best."""
        wanted = [*range(-1, -1 - count, -1), 0]
        best = self.residuals[:, wanted].max(1).argmin()
        values, residuals = torch.as_tensor(
            np.stack([self.nodes[best, wanted], self.residuals[best, wanted]])
        )
        return Spectrum(
            top=values[:-1],
            top_residuals=residuals[:-1],
            bottom=values[-1:],
            bottom_residuals=residuals[-1:],
            iterations=self.steps,
            converged=bool((residuals <= tolerance * values.abs().max()).all()),
        )

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
    product: Product,
    size: int,
    probes: int,
    steps: int,
    generator: torch.Generator,
    light: torch.dtype | None = None,
) -> Quadrature:
    """The quadrature from `probes` vectors of random signs, with up to `steps` products each.

    `product` multiplies vectors that are rows; `generator` is on the matrix's device. If `light`,
    vectors are of this dtype, and some probes share each product.
    """
    nodes, weights = np.zeros((2, probes, min(steps, size)))
    residuals = np.full_like(nodes, np.inf)
    for some in torch.arange(probes).split(TOGETHER if light else 1):
        grown = _grown(product, size, len(some), nodes.shape[1], generator, light)
        for probe, (space, left) in zip(some, grown, strict=True):
            values, vectors = torch.linalg.eigh(space.projected)
            # If the search ends early, the rest of a row has no weight.
            nodes[probe, : len(values)] = values.cpu()
            weights[probe, : len(values)] = vectors[0].square().cpu()
            residuals[probe, : len(values)] = (vectors[-1] * left).abs().cpu()
    return Quadrature(size, nodes, weights, residuals)


def _grown(
    product: Product,
    size: int,
    probes: int,
    steps: int,
    generator: torch.Generator,
    light: torch.dtype | None,
) -> list[tuple[Subspace, float]]:
    """The subspaces that grow from random signs, and the length of what is left in the end.

    In each the matrix is tridiagonal. They share products.
    """
    device, lefts = generator.device, []
    for _ in range(probes):
        signs = torch.randint(2, (1, size), generator=generator, device=device)
        lefts.append(2 * signs.to(light or torch.float64) - 1)
    spaces = [Subspace(product, size, steps, device, light) for _ in lefts]
    while growing := [
        one
        for one, (space, left) in enumerate(zip(spaces, lefts, strict=True))
        if space.size < steps and left.norm() > space.round_off
    ]:
        fresh = [lefts[one] / lefts[one].norm() for one in growing]
        images = product(torch.cat(fresh))
        for one, vector, image in zip(growing, fresh, images, strict=True):
            lefts[one] = spaces[one].take(vector, image.unsqueeze(0))
    return [(space, left.norm().item()) for space, left in zip(spaces, lefts, strict=True)]
