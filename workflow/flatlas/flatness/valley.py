"""How wide the valley of a loss is along a direction: until the loss has grown by a factor."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log
from sys import float_info

from scipy.optimize import brentq
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.flatness.loss import Loss

# The search for an end begins at BEGIN times the length of w, and multiplies by FACTOR, at most
# FARTHEST times.
BEGIN, FACTOR, FARTHEST = 1e-4, 2.0, 60
# Losses are clipped to within this factor of the wanted one, because a loss may overflow or fall.
FAR = 1e6


@dataclass(frozen=True)
class Valley:
    """The `flatness` F is the distance between two ends, to the `left` and to the `right` of w.

    `residual` is how far the loss at the worse end is from the wanted one, relative to that;
    `iterations` counts evaluations of the loss.
    """

    flatness: float
    left: float
    right: float
    residual: float
    iterations: int
    converged: bool


def valley(loss: Loss, direction: Tensor, factor: float, tolerance: float) -> Valley:
    """The valley along a unit vector: at its ends the loss is `factor` times that at w.

    An end is found to `tolerance`, relative to its distance. It is the nearest one if the loss
    crosses that level once before the distance doubles.
    """
    origin = loss.value(loss.w).item()
    if not 0 < origin < inf:
        raise FlatlasError(
            f"the loss at the model's weights is {origin:.3g}, so no multiple of it marks the ends "
            "of a valley. Allowed: a finite loss above 0."
        )
    evaluations = 0

    def excess(step: float) -> float:
        nonlocal evaluations
        evaluations += 1
        value = loss.value(loss.w + step * direction).item() / origin / factor
        # A loss that overflows counts as above.
        return log(max(value, 1 / FAR)) if value < FAR else log(FAR)

    begin = BEGIN * (loss.w.norm().item() or 1.0)
    left, right = (_end(excess, sign * begin, tolerance) for sign in (-1, 1))
    known = abs(left) < inf and right < inf
    residual = max(abs(excess(left)), abs(excess(right))) if known else inf
    return Valley(right - left, left, right, residual, evaluations, converged=known)


def _end(excess: Callable[[float], float], step: float, tolerance: float) -> float:
    """Where the excess becomes positive; infinite if it does not."""
    before = 0.0
    for _ in range(FARTHEST):
        if excess(step) > 0:
            # A quarter for each end; SciPy takes no smaller share of an end.
            share = max(tolerance / 4, 4 * float_info.epsilon)
            return float(brentq(excess, before, step, xtol=float_info.min, rtol=share))
        before, step = step, FACTOR * step
    return inf if step > 0 else -inf
