"""Whether a model's gradient is that of its loss, along one direction on one batch."""

from collections.abc import Iterator
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
# Slopes by two successive steps agree to this share of the larger, unless round-off or kinks of the
# loss decide; so does the gradient, if it is right.
AGREE, RIGHT = 0.01, 0.05
# A change of the loss below this many times its round-off decides nothing.
ROUND_OFFS = 100


def elsewhere(objective: Objective) -> Tensor:
    """Weights near w, always the same."""
    random = torch.Generator(objective.w.device).manual_seed(0)
    drawn = torch.randn(
        objective.w.shape, generator=random, dtype=objective.w.dtype, device=objective.w.device
    )
    return objective.w + AWAY * _length(objective.w) * drawn / drawn.norm()


def has_wrong_slope(objective: Objective, batch: Batch) -> bool:
    """Whether the slope by the gradient clearly differs from that by finite differences.

    The slope is that along the gradient, at weights near w. Where differences of two step lengths
    disagree, there is no verdict: the loss has kinks or jumps in between, or is rounded.
    """
    alone, w = objective.on([batch]), elsewhere(objective)
    try:
        value, gradient = alone.value_and_gradient(w)
        slope = gradient.norm().item()
        if not (value.isfinite() and gradient.isfinite().all() and slope):
            return False
        rounded = ROUND_OFFS * _round_off(value.item(), alone.dtype)
        slopes = _by_differences(alone, w, gradient / slope)
        for (_, before), (step, by_difference) in pairwise(slopes):
            if step * slope < rounded or not _agree(before, by_difference, AGREE):
                continue
            return not _agree(slope, by_difference, RIGHT)
    except FlatlasError:
        # The model can't be computed or differentiated there, which a measure says if it must.
        return False
    return False


def _by_differences(
    objective: Objective, w: Tensor, along: Tensor
) -> Iterator[tuple[float, float]]:
    """The steps, each with the slope by it."""
    for share in STEPS:
        step = share * _length(w)
        rise = objective.value(w + step * along) - objective.value(w - step * along)
        yield step, (rise / (2 * step)).item()


def _round_off(value: float, dtype: torch.dtype) -> float:
    """The round-off of a loss: parts of a model may compute in float32 whatever its dtype.

    A loss near 0 may be a difference of numbers near 1, as that of a confident classifier.
    """
    return torch.finfo(torch.float32).eps * abs(value) + torch.finfo(dtype).eps


def _agree(one: float, other: float, share: float) -> bool:
    return abs(one - other) <= share * max(abs(one), abs(other))


def _length(w: Tensor) -> float:
    return w.norm().item() or 1.0
