"""The Hessian ∇∇L: its largest and lowest eigenvalues, trace and Frobenius norm."""

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from flatlas.library.curvature import Curvature, MaybeProbes, curvature
from flatlas.library.problem import Problem


def measure(
    problem: Problem,
    *,
    top: PositiveInt = 10,
    bottom: NonNegativeInt = 1,
    probes: MaybeProbes = 10,
    steps: PositiveInt | None = None,
    tolerance: PositiveFloat = 1e-3,
    trace_tolerance: PositiveFloat | None = None,
) -> Curvature:
    """`top` and `bottom` eigenvalues to `tolerance` of the largest; trace and norm by `probes`.

    The search takes at most `steps` products for each eigenvalue, by default 20, or 100 in all for
    few. With `trace_tolerance` further probes follow, until the trace's standard error is so small
    relative to it. `bottom` and `probes` may be 0.
    """
    of, random = problem.training, problem.generator("hessian")
    return curvature(
        of.hessian_product,
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
