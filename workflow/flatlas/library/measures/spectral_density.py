"""The spectral density of the Hessian ∇∇L or the Gauss-Newton matrix, its outliers and bulk."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PositiveInt

from flatlas.hessian.density import SpectralDensity, spectral_density
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem
from flatlas.plan.bounds import AtLeastTwo, Positive

# The lowest density that is drawn, relative to the highest.
LOWEST = 1e-6


@dataclass(frozen=True)
class Density(SpectralDensity):
    """`density` at the eigenvalues `grid`; its moments, and the eigenvalues that stand out.

    `precise` says whether products are as accurate as the tolerance.
    """

    precise: bool

    def quantities(self) -> Mapping[str, Quantity]:
        """Trace and norm by moments, the share near 0, and how many eigenvalues are outliers."""
        sampled = {"trace": self.trace, "frobenius": self.frobenius, "bulk": self.bulk}
        return {
            **{name: Quantity.of(one, self.precise) for name, one in sampled.items()},
            "outliers": Quantity(self.outliers, converged=self.converged),
            "edge": Quantity(self.edge, self.edge_error, self.precise),
        }

    def draw(self, ax: Any) -> None:
        """The density, on a logarithmic scale: the bulk is far higher than the outliers."""
        from flatlas.plotting.look import BLUE, GREY

        ax.semilogy(self.grid, self.density, color=BLUE)
        ax.axvline(self.edge, ymax=0.85, color=GREY, linestyle=":", label="edge of the outliers")
        ax.set(xlabel="eigenvalue", ylabel="density")
        # Without curvature all eigenvalues are 0, and their density is infinite.
        if np.isfinite(highest := self.density.max()):
            ax.set_ylim(LOWEST * highest, 20 * highest)
        ax.legend(loc="upper right")


def measure(
    problem: Problem,
    *,
    matrix: Literal["hessian", "gauss_newton"] = "hessian",
    top: PositiveInt = 10,
    probes: AtLeastTwo = 10,
    steps: PositiveInt = 80,
    width: Annotated[float, Field(ge=1e-4, le=0.5)] = 0.01,
    tolerance: Positive = 1e-3,
) -> Density:
    """The density of the `matrix`'s eigenvalues, and the outliers among the `top` largest.

    The density comes from `steps` products with each of the `probes`, which are random vectors.
    Each eigenvalue counts as a normal distribution with a standard deviation of `width` times the
    spectral norm. The largest are found to `tolerance` times the first.
    """
    objective, random = problem.training, problem.generator("spectral_density")
    product = objective.hessian_product if matrix == "hessian" else objective.gauss_newton_product
    round_off = objective.round_off()
    found = spectral_density(
        product,
        objective.size,
        top,
        probes,
        steps,
        tolerance,
        width,
        random,
        objective.dtype,
        round_off,
    )
    return Density(**vars(found), precise=round_off <= tolerance)
