"""What a model computes in its own precision, beside the copy that is measured in another."""

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from flatlas.errors import FlatlasError
from flatlas.models.batches import Batch
from flatlas.models.copies import copied
from flatlas.models.objective import Objective
from flatlas.models.precision import by_default, in_precision
from flatlas.models.prepared import unwrapped
from flatlas.models.tensors import largest, tensors_in


@torch.no_grad()
def is_other_function(
    objective: Objective, model: nn.Module, batch: Batch, defaults: tuple[torch.device, torch.dtype]
) -> bool:
    """Whether the copy's outputs differ from the model's by more than the round-off of these.

    `defaults` are torch's for the model. False if it can't take the batch in one precision.
    """
    model = unwrapped(model)
    own = next((one.dtype for one in model.parameters() if one.is_floating_point()), None)
    if own in (None, objective.dtype):
        return False
    given = objective.of_model(copied(model, "model").to(objective.w.device))
    given.model.eval()

    def in_own(one: Tensor) -> Tensor:
        return one.to(in_precision(one.dtype, own))

    arguments, named = tree_map_only(Tensor, in_own, (batch.arguments, dict(batch.named)))
    try:
        with by_default(*defaults):
            expected = given.outputs({}, Batch(arguments, named, batch.target, batch.examples))
    except FlatlasError:
        return False
    found = objective.outputs(objective.parts(objective.w), batch)
    pairs = zip(tensors_in(found), tensors_in(expected), strict=False)
    return any(_differ(one, other, torch.finfo(own).eps ** 0.5) for one, other in pairs)


def _differ(found: Tensor, expected: Tensor, tolerance: float) -> bool:
    if found.shape != expected.shape or not found.is_floating_point():
        return False
    difference = largest((found - expected)[expected.isfinite()])
    return not difference <= tolerance * largest(found[found.isfinite()])
