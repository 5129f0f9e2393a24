"""The Hessian ∇∇L: its largest and lowest eigenvalues, trace and Frobenius norm."""

from pydantic import PositiveFloat, PositiveInt

from flatlas.hessian.lanczos import STEPS
from flatlas.library.curvature import Curvature, Probes, curvature
from flatlas.library.problem import Problem


def measure(
    problem: Problem,
    *,
    top: PositiveInt = 10,
    bottom: PositiveInt = 1,
    probes: Probes = 10,
    steps: PositiveInt = STEPS,
    tolerance: PositiveFloat = 1e-3,
) -> Curvature:
    """`top` and `bottom` eigenvalues to `tolerance` of the largest; trace and norm by `probes`.

    The search takes at most `steps` products for each eigenvalue.
    """
    of, random = problem.training, problem.generator("hessian")
    return curvature(of.hessian_product, of.size, top, bottom, probes, steps, tolerance, random)
