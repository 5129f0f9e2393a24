"""The Gauss-Newton matrix Jᵀ (∂²ℓ/∂z²) J; with cross-entropy it is the Fisher matrix."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from flatlas.library.curvature import Curvature, MaybeProbes, curvature
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem


@dataclass(frozen=True)
class GaussNewton(Curvature):
    """The same of the Gauss-Newton matrix G, and the Fisher-Rao norm wᵀ G w (Liang et al. 2019)."""

    fisher_rao: float

    def quantities(self) -> Mapping[str, Quantity]:
        """The eigenvalues by rank, and the rest."""
        return {**super().quantities(), "fisher_rao": Quantity(self.fisher_rao)}


def measure(
    problem: Problem,
    *,
    top: PositiveInt = 10,
    bottom: NonNegativeInt = 1,
    probes: MaybeProbes = 10,
    steps: PositiveInt | None = None,
    tolerance: PositiveFloat = 1e-3,
    trace_tolerance: PositiveFloat | None = None,
) -> GaussNewton:
    """Eigenvalues, trace and norm with the options of `hessian`; the Fisher-Rao norm is exact."""
    of, random = problem.training, problem.generator("gauss_newton")
    found = curvature(
        of.gauss_newton_product,
        of.size,
        top,
        bottom,
        probes,
        steps,
        tolerance,
        trace_tolerance,
        random,
        of.dtype,
    )
    fisher_rao = (of.w @ of.gauss_newton_product(of.w.unsqueeze(0))[0]).item()
    return GaussNewton(**vars(found), fisher_rao=fisher_rao)
