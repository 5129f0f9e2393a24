"""Whether a model's first and second derivatives are right, along one direction on one batch."""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import torch
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.models.batches import Batch
from flatlas.models.objective import Objective

# How far other weights are from w, relative to their length: far enough to leave a minimum and the
# kinks at weights of 0.
AWAY = 1e-2
# Steps to both sides, relative to the length of w, from the smallest.
STEPS = (1e-5, 1e-4, 1e-3, 1e-2)
# Slopes by two successive steps agree to the share AGREE of the larger, unless round-off or kinks
# of the loss decide. A right gradient agrees with them to the share RIGHT.
AGREE, RIGHT = 0.01, 0.05
# A change of the loss below this many times its round-off decides nothing.
ROUND_OFFS = 100
# Steps for differences of the gradient in float64: so short that they meet few kinks of the loss,
# between which its second derivative has no part in these differences.
SHORT = (1e-8, 1e-7, 1e-6)
# The same as above for these differences, which are nearly exact unless there is a kink.
AGREE_TWICE, RIGHT_TWICE = 1e-3, 1e-2


def elsewhere(objective: Objective) -> Tensor:
    """Weights near w, always the same."""
    return objective.w + AWAY * _length(objective.w) * _direction(objective.w, seed=0)


def has_wrong_slope(objective: Objective, batch: Batch) -> bool:
    """Whether the slope by the gradient clearly differs from that by finite differences.

    The slope is that along the gradient, at weights near w. False if no two successive steps
    agree: the loss has kinks or jumps in between, or is rounded.
    """
    alone, w = objective.on([batch]), elsewhere(objective)
    try:
        value, gradient = alone.value_and_gradient(w)
        slope = gradient.norm()
        if not (value.isfinite() and gradient.isfinite().all() and slope):
            return False
        rounded = ROUND_OFFS * _round_off(value.item(), alone.dtype)
        slopes = _by_differences(alone.value, w, gradient / slope, STEPS)
        for (_, before), (step, by_difference) in pairwise(slopes):
            if step * slope < rounded or not _are_near(before, by_difference, AGREE):
                continue
            return not _are_near(slope, by_difference, RIGHT)
    except FlatlasError:
        # A measure that needs the model there raises the error itself.
        return False
    return False


def has_wrong_curvature(objective: Objective, batch: Batch) -> bool:
    """Whether a product with the Hessian clearly differs from that by differences of the gradient.

    The product is that with a random direction, at weights near w. False if no two successive steps
    agree, or if a part of the model is less precise than float64.
    """
    alone = objective.on([batch])
    alone.w = elsewhere(objective)
    along = _direction(alone.w, seed=1)

    def slope_at(w: Tensor) -> Tensor:
        return alone.value_and_gradient(w)[1]

    try:
        if alone.precision() > torch.finfo(torch.float64).eps:
            return False
        found = alone.hessian_product(along.unsqueeze(0))[0]
        # A confident classifier has a gradient near 0 that is a difference of numbers near 1.
        size = 1 + slope_at(alone.w).norm()
        rounded = ROUND_OFFS * torch.finfo(alone.dtype).eps * size
        differences = _by_differences(slope_at, alone.w, along, SHORT)
        for (_, before), (step, by_difference) in pairwise(differences):
            if step * max(found.norm(), by_difference.norm()) < rounded:
                continue
            if _are_near(before, by_difference, AGREE_TWICE):
                return not _are_near(found, by_difference, RIGHT_TWICE)
    except (FlatlasError, torch.OutOfMemoryError):
        # A measure that needs the second derivative raises the error itself.
        return False
    return False


def _are_near(one: Tensor, other: Tensor, share: float) -> bool:
    return bool((one - other).norm() <= share * max(one.norm(), other.norm()))


def _direction(w: Tensor, seed: int) -> Tensor:
    """A random unit vector, always the same."""
    random = torch.Generator(w.device).manual_seed(seed)
    drawn = torch.randn(w.shape, generator=random, dtype=w.dtype, device=w.device)
    return drawn / drawn.norm()


def _by_differences(
    of: Callable[[Tensor], Tensor], w: Tensor, along: Tensor, shares: Iterable[float]
) -> Iterator[tuple[float, Tensor]]:
    """The steps, each with the slope of a function of w by it."""
    for share in shares:
        step = share * _length(w)
        yield step, (of(w + step * along) - of(w - step * along)) / (2 * step)


def _round_off(value: float, dtype: torch.dtype) -> float:
    """The round-off of a loss: parts of a model may compute in float32 whatever its dtype.

    A loss near 0 may be a difference of numbers near 1, as that of a confident classifier.
    """
    return torch.finfo(torch.float32).eps * abs(value) + torch.finfo(dtype).eps


def _length(w: Tensor) -> float:
    return w.norm().item() or 1.0
