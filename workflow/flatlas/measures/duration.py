"""How long a measure of the library may take, logged before it begins."""

import logging
from math import prod
from time import perf_counter

from flatlas.hessian.lanczos import STEPS
from flatlas.hessian.loss import MeanLoss, flattened, value_and_gradient
from flatlas.measures.solution import Solution
from flatlas.plan.measurements.curvature import OfHessian
from flatlas.plan.measurements.measurement import Measurement

logger = logging.getLogger("flatlas")

# A measure that may take more seconds than this is announced.
LONG = 120.0
# Multiplications per second while Lanczos orthogonalizes vectors, which it reads from memory.
ORTHOGONALIZED = 1e9


def announce(options: Measurement, solution: Solution) -> None:
    """Log how long a measure may take, if that is more than LONG."""
    seconds = options.passes * _seconds_of_a_pass(solution) + _orthogonalizing(options, solution)
    if seconds > LONG:
        logger.warning(
            "take('%s') may take up to about %s. A smaller net, fewer images, or smaller options "
            "like top, probes and epochs make it faster.",
            options.measure,
            f"{seconds / 60:,.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.0f} hours",
        )


def _seconds_of_a_pass(solution: Solution) -> float:
    """The time of one gradient on S."""
    (w,) = flattened(solution.net, solution.parameters)
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    begun = perf_counter()
    value, _ = value_and_gradient(loss, w)
    # A GPU computes in the background until a value is read.
    value.item()
    return perf_counter() - begun


def _orthogonalizing(options: Measurement, solution: Solution) -> float:
    """The time in which Lanczos makes each vector orthogonal to those before it."""
    if not isinstance(options, OfHessian):
        return 0.0
    weights = sum(prod(shape) for shape in solution.net.shapes.values())
    vectors = min(STEPS * options.top, weights)
    return vectors**2 * weights / ORTHOGONALIZED
