"""The Hessian ∇∇L: its largest and lowest eigenvalues, trace and Frobenius norm."""

from flatlas.library.curvature import Curvature, curvature
from flatlas.library.options import OfSpectrum
from flatlas.library.problem import Problem


def measure(problem: Problem, options: OfSpectrum) -> Curvature:
    """Eigenvalues, trace and norm."""
    of, random = problem.training, problem.generator("hessian")
    return curvature(of.hessian_product, of.size, options, random, of.dtype)
