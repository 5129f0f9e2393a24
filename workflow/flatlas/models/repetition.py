"""Whether a model computes the same at the same weights, whatever it computed before."""

import torch
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.models.batches import Batch
from flatlas.models.objective import Objective
from flatlas.models.slope import elsewhere


def of_first_pass(used: Objective, unused: Objective, batch: Batch) -> Tensor:
    """The loss of a batch at w; an error if that pass changes the loss at other weights.

    Both have a model that has made no pass.
    """
    first, there = used.on([batch]).value(used.w), elsewhere(used)
    try:
        found, expected = (objective.on([batch]).value(there) for objective in (used, unused))
    except FlatlasError:
        # The model may fail at these other weights; its own weights are checked elsewhere.
        return first
    if expected.isfinite() and differ(found, expected, used.dtype):
        raise FlatlasError(
            f"at changed weights the loss of a batch is {expected.item():.6g}, but "
            f"{found.item():.6g} after a pass at the model's own: the model keeps numbers that its "
            "first pass computed from the weights, counts its calls, or draws random numbers. Let "
            "each pass depend only on the weights and the inputs."
        )
    return first


def has_changed(objective: Objective, batch: Batch, before: Tensor) -> bool:
    """Whether the loss of a batch at w is no longer what it was `before`."""
    return differ(objective.on([batch]).value(objective.w), before, objective.dtype)


def differ(one: Tensor, other: Tensor, dtype: torch.dtype) -> bool:
    """Whether two values differ by more than their round-off."""
    return not (one - other).abs() <= torch.finfo(dtype).eps ** 0.5 * other.abs()
