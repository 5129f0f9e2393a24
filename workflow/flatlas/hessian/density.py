"""The spectral density of a matrix as a curve, its moments, and how many eigenvalues stand out."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from flatlas.hessian.complete import complete_search
from flatlas.hessian.lanczos import Product, Spectrum, search
from flatlas.hessian.quadrature import Quadrature, quadrature
from flatlas.hessian.round_off import with_round_off
from flatlas.hessian.sampled import Sampled, root

# Grid points for each width of the kernel, and the widths by which the grid exceeds the ends.
FINENESS, MARGIN = 4, 6
# An eigenvalue is an outlier if it is further from 0 than this many standard deviations of all.
DEVIATIONS = 6
# Eigenvalues this close to 0, relative to the spectral norm, are the bulk.
NEAR_ZERO = 0.01


@dataclass(frozen=True)
class SpectralDensity:
    """φ as `density` on the `grid`, smoothed with a normal kernel of this `width`; and its parts.

    `ends` are the ends of the spectrum, which give the grid its reach.
    """

    nodes: Quadrature
    ends: Spectrum
    width: float
    grid: np.ndarray
    density: np.ndarray

    @property
    def trace(self) -> Sampled:
        """The trace, from the first moment."""
        first = self.nodes.moment(1)
        return Sampled(self.nodes.size * first.value, self.nodes.size * first.standard_error)

    @property
    def frobenius(self) -> Sampled:
        """The Frobenius norm, from the second moment."""
        size, second = self.nodes.size, self.nodes.moment(2)
        return root(Sampled(size * second.value, size * second.standard_error))

    @property
    def edge(self) -> float:
        """Eigenvalues beyond it are outliers."""
        first, second = self.nodes.moment(1).value, self.nodes.moment(2).value
        return float(DEVIATIONS * max(0.0, second - first**2) ** 0.5)

    @property
    def edge_error(self) -> float:
        """The standard error of the edge."""
        centred = replace(self.nodes, nodes=self.nodes.nodes - self.nodes.moment(1).value)
        return DEVIATIONS * root(centred.moment(2)).standard_error

    @property
    def outliers(self) -> int:
        """The number of the largest eigenvalues that are beyond the edge."""
        return int((self.ends.top > self.edge).sum())

    @property
    def bulk(self) -> Sampled:
        """The share of eigenvalues near 0."""
        return self.nodes.share(-NEAR_ZERO * self.ends.norm, NEAR_ZERO * self.ends.norm)

    @property
    def converged(self) -> bool:
        """False also if all eigenvalues that were found are outliers: there may be more."""
        return self.ends.converged and self.outliers < len(self.ends.top)


def spectral_density(
    product: Product,
    size: int,
    top: int,
    probes: int,
    steps: int,
    tolerance: float,
    width: float,
    generator: torch.Generator,
    light: torch.dtype | None = None,
    round_off: float = 0.0,
) -> SpectralDensity:
    """The density from up to `steps` of Lanczos for each of the `probes`; the `top` eigenvalues.

    `width` is relative to the spectral norm; `product` multiplies vectors that are rows. If `light`
    is a dtype, few vectors are held, in that dtype, and eigenvalues have all their copies.
    `round_off` is that of products, relative to the largest eigenvalue.
    """
    nodes = quadrature(product, size, probes, steps, generator, light)
    if light:
        ends = complete_search(product, size, top, generator, tolerance, light)[0]
    else:
        ends = search(product, size, top, generator, tolerance)
    ends = with_round_off(ends, round_off, tolerance)
    width = width * ends.norm
    low, high = ends.lowest - MARGIN * width, ends.top[0].item() + MARGIN * width
    if not width:
        return SpectralDensity(nodes, ends, width, np.zeros(1), np.full(1, np.inf))
    grid = np.linspace(low, high, int(FINENESS * (high - low) / width) + 1)
    return SpectralDensity(nodes, ends, width, grid, nodes.density(grid, width))
