"""Margins of a classifier: how far each example's own class exceeds the others."""

from collections.abc import Mapping

import torch
from torch import Tensor

from flatlas.flatness.margin import margin
from flatlas.library.defined import Undefined
from flatlas.models.batches import Batch
from flatlas.models.losses import Outputs
from flatlas.models.objective import Objective
from flatlas.models.tensors import described, exact


@torch.no_grad()
def margins(objective: Objective, w: Tensor) -> Tensor:
    """The output of the right class minus the largest other one, for each label, in float64.

    With one output for each example and labels 0 and 1 the margin is that output, with its sign
    changed for label 0. Labels that the loss ignores are left out.
    """
    parts = objective.parts(w)
    return torch.cat(
        [
            _of_batch(objective, objective.outputs(parts, batch), batch)
            for batch in objective.batches
        ]
    )


def _of_batch(objective: Objective, outputs: Outputs, batch: Batch) -> Tensor:
    logits = outputs["logits"] if isinstance(outputs, Mapping) and "logits" in outputs else outputs
    target = batch.target
    if not isinstance(logits, Tensor) or not isinstance(target, Tensor):
        raise _undefined(logits, target)
    logits = exact(logits)
    target = target.to(logits.device)
    if objective.loss.is_binary and logits.shape == target.shape and is_binary(target):
        return margin(logits.unsqueeze(-1), target.double()).flatten()
    if target.is_floating_point():
        raise _undefined(logits, target)
    if logits.ndim < 2:
        raise _undefined(logits, target)
    dimension = objective.loss.dimension_of_classes(logits, target)
    if dimension is None and logits[:, 0].shape == target.shape:
        raise Undefined(
            "margins need to know which dimension of the output has the classes, but with "
            f"{described(logits)} it may be the second or the last. Give torch's loss, as "
            "loss='cross_entropy', which has them second, or batches of another shape."
        )
    logits = logits.movedim(dimension or 1, 1)
    if logits.shape[1] < 2 or logits[:, 0].shape != target.shape:
        raise _undefined(logits, target)
    known = objective.loss.is_class(target)
    labels = target[known].long()
    if (labels >= logits.shape[1]).any():
        raise _undefined(logits, target)
    return margin(logits.movedim(1, -1)[known], labels)


def is_binary(target: Tensor) -> bool:
    """Whether all labels are 0 and 1."""
    return bool(((target == 0) | (target == 1)).all())


def _undefined(outputs: Outputs, target: object) -> Undefined:
    return Undefined(
        f"margins need class labels and an output for each class, but the model's output is "
        f"{described(outputs)} and its target {described(target)}."
    )
