"""What a model's loss depends on: it must be the measured parameters and the data alone."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from flatlas.errors import FlatlasError
from flatlas.models.batches import Batch
from flatlas.models.graph import reaches, roots
from flatlas.models.losses import Loss
from flatlas.models.objective import Objective
from flatlas.models.prepared import unwrapped
from flatlas.models.repetition import differ
from flatlas.models.second_order import twice_differentiable
from flatlas.models.tensors import leaves_in


def loss_of(loss: Any, model: nn.Module) -> Loss:
    """The loss; an error if it is a module that has parameters of the model.

    If it keeps them in a list, the check of the first batch finds them: they stay the model's own.
    """
    own = [*unwrapped(model).parameters()]
    if isinstance(loss, nn.Module) and not {*map(id, own)}.isdisjoint(map(id, loss.parameters())):
        raise _penalized()
    return Loss(loss, own)


@torch.no_grad()
def refuse_without_loss(objective: Objective) -> None:
    """Raise an error if the loss at w is not finite, not a function of w, or counts no example."""
    parts, divisor = objective.parts(objective.w), 0.0
    for number, batch in enumerate(objective.batches):
        try:
            value, share = objective.of_batch(parts, batch)
        except FlatlasError as error:
            raise FlatlasError(f"batch {number}: {error}") from error
        if not value.isfinite():
            infinite = " The batch has infinite numbers: leave them out."
            hint = infinite if batch.has_infinite else ""
            raise FlatlasError(
                f"batch {number}: the loss is {value.item()} at the model's weights.{hint}"
            )
        if not number:
            _refuse_other_parameters(objective, parts, batch)
            _refuse_other_values(objective, parts, batch, value)
        divisor += share
    if not divisor and not objective.loss.is_sum:
        raise FlatlasError("the loss ignores the labels of all examples.")


def _refuse_other_parameters(objective: Objective, parts: dict[str, Tensor], batch: Batch) -> None:
    """Raise an error if the model computes with parameters that do not change with w."""
    # In a pass, `parts` stand in for these.
    replaced = {name: objective.model.get_parameter(name) for name in objective.shapes}
    originals = [*objective.originals, *replaced.values()]
    with twice_differentiable(objective.model), _requiring_gradients(originals):
        outputs = objective.outputs(parts, batch)
        if reaches(objective.originals, leaves_in(outputs)):
            raise FlatlasError(
                "the model computes its output with parameters that a copy of it does not have, "
                "such as those of a layer that a lambda, a hook or a method under torch.compile "
                "refers to: measures are taken of a copy. Let each layer be an attribute of the "
                "module that uses it."
            )
        total, _ = objective.loss.of(outputs, batch.target, batch.examples)
        reached = roots([total])
    kept = [name for name, parameter in replaced.items() if id(parameter) in reached]
    if kept:
        raise FlatlasError(
            f"the model also uses '{kept[0]}' through a list, a functools.partial or the like. "
            "Measures change the parameter of that name, but not this second reference. Let "
            "the model use the parameter by its name, as in self.layer.weight."
        )


def _refuse_other_values(
    objective: Objective, parts: dict[str, Tensor], batch: Batch, value: Tensor
) -> None:
    """Raise an error if the loss of a batch, computed again, has another value or a penalty."""
    # Without gradients, to use the same kernels as for the first value.
    outputs = tree_map_only(Tensor, lambda one: one.detach(), objective.outputs(parts, batch))
    with torch.enable_grad(), _requiring_gradients(objective.originals):
        second, _ = objective.loss.of(outputs, batch.target, batch.examples)
        if reaches(objective.originals, [second]):
            raise _penalized()
    if differ(second, value, objective.dtype):
        raise FlatlasError(
            f"the loss of a batch is {value.item():.6g}, and {second.item():.6g} when it is "
            "computed again: in evaluation mode the model or the loss draws random numbers, or "
            "changes with each call. Give such numbers as inputs, and dropout its mode: "
            "F.dropout(x, training=self.training)."
        )


def unused(objective: Objective) -> list[str]:
    """The names of the parameters in w on which the loss of no batch depends."""
    left = [*objective.shapes]
    for batch in objective.batches:
        with objective.leaves(objective.w) as leaves:
            total, _ = objective.of_batch({}, batch)
            reached = roots([total])
            left = [name for name in left if id(leaves[name]) not in reached]
        if not left:
            break
    return left


@contextmanager
def _requiring_gradients(parameters: Sequence[Tensor]) -> Iterator[None]:
    """Let frozen parameters require gradients, too; those made in inference mode can't."""
    frozen = [one for one in parameters if not (one.requires_grad or one.is_inference())]
    try:
        for one in frozen:
            one.requires_grad_()
        yield
    finally:
        for one in frozen:
            one.requires_grad_(False)


def _penalized() -> FlatlasError:
    return FlatlasError(
        "the loss depends on the model's own parameters, which stay as they are while those of a "
        "copy are measured. Let the model return such a penalty with its outputs, or leave it out."
    )
