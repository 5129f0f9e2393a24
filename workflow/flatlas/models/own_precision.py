"""What a model computes in its own precision, beside the copy that is measured in another."""

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from flatlas.errors import FlatlasError
from flatlas.models.batches import Batch
from flatlas.models.copies import copied
from flatlas.models.losses import Outputs
from flatlas.models.objective import Objective
from flatlas.models.precision import by_default
from flatlas.models.prepared import unwrapped
from flatlas.models.tensors import exact, largest, leaves_in, reals
from flatlas.nets.precision import in_precision


@torch.no_grad()
def is_other_function(
    objective: Objective, model: nn.Module, batch: Batch, defaults: tuple[torch.device, torch.dtype]
) -> bool:
    """Whether the copy's outputs differ from the model's in the first half of their digits.

    `defaults` are torch's for the model. False if the model can't take the batch.
    """
    model = unwrapped(model)
    own = [one.dtype for one in model.parameters() if one.is_floating_point()]
    if {*own} <= {objective.dtype}:
        return False
    given = objective.of_model(copied(model, "model").to(objective.w.device))
    given.model.eval()
    try:
        with by_default(*defaults):
            expected = _outputs(given, batch, own[0])
    except FlatlasError:
        return False
    found = objective.outputs(objective.parts(objective.w), batch)
    both = reals(leaves_in(found)), reals(leaves_in(expected))
    # Outputs have another dtype if a model uses autocast itself.
    made = (one.dtype for one in both[1])
    round_off = max(torch.finfo(dtype).eps for dtype in (*own, *made, objective.dtype)) ** 0.5
    return _differ(*both, round_off)


def _outputs(given: Objective, batch: Batch, own: torch.dtype) -> Outputs:
    """The model's outputs for its inputs as they are, or in its precision if it refuses these."""
    try:
        return given.outputs({}, batch)
    except FlatlasError:
        inputs = batch.arguments, batch.named
        arguments, named = tree_map_only(
            Tensor, lambda one: one.to(in_precision(one.dtype, own)), inputs
        )
        return given.outputs({}, Batch(arguments, named, batch.target, batch.examples))


def _differ(found: list[Tensor], expected: list[Tensor], tolerance: float) -> bool:
    """Whether most rows of an output differ: single ones may take another way, as with experts.

    The tolerance is relative to the largest number of all outputs, as some may be near 0.
    """
    size = max((largest(one[one.isfinite()]) for one in found), default=0.0)
    for one, other in zip(found, expected, strict=False):
        # An output without rows has nothing to compare, and can't be reshaped.
        if one.ndim and one.numel() and one.shape == other.shape:
            rows = (exact(one) - exact(other)).abs().reshape(len(one), -1)
            if (rows.amax(1) > tolerance * size).double().mean() > 0.5:
                return True
    return False
