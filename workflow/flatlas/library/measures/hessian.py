"""The Hessian ∇∇L: its largest and lowest eigenvalues, trace and Frobenius norm."""

from flatlas.library.curvature import Curvature, curvature
from flatlas.library.options import OfSpectrum
from flatlas.library.problem import Problem


def measure(problem: Problem, options: OfSpectrum) -> Curvature:
    """Eigenvalues, trace and norm of ∇∇L."""
    objective, random = problem.training, problem.generator("hessian")
    return curvature(objective, objective.hessian_product, options, random)
