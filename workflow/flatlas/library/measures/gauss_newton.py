"""The Gauss-Newton matrix Jᵀ (∂²ℓ/∂z²) J; with cross-entropy it is the Fisher matrix."""

from collections.abc import Mapping
from dataclasses import dataclass

from flatlas.library.curvature import Curvature, curvature
from flatlas.library.found import Quantity
from flatlas.library.options import OfSpectrum
from flatlas.library.problem import Problem


@dataclass(frozen=True)
class GaussNewton(Curvature):
    """The curvature of the matrix G, and the squared Fisher-Rao norm wᵀ G w (Liang et al. 2019)."""

    fisher_rao: float

    def quantities(self) -> Mapping[str, Quantity]:
        """The eigenvalues by rank, and the other numbers."""
        return {
            **super().quantities(),
            "fisher_rao": Quantity(self.fisher_rao, converged=self.precise),
        }


def measure(problem: Problem, options: OfSpectrum) -> GaussNewton:
    """Eigenvalues, trace and norm of G, and the squared Fisher-Rao norm wᵀ G w, which is exact."""
    objective, random = problem.training, problem.generator("gauss_newton")
    found = curvature(objective, objective.gauss_newton_product, options, random)
    fisher_rao = (objective.w @ objective.gauss_newton_product(objective.w.unsqueeze(0))[0]).item()
    return GaussNewton(**vars(found), fisher_rao=fisher_rao)
