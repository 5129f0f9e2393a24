"""Weight decay as a term of the loss."""

import torch
from torch import Tensor

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Penalty


def acts(penalty: Penalty, epoch: int) -> bool:
    """Whether the penalty is part of the loss in this epoch (from 1)."""
    within = penalty.until_epoch is None or epoch <= penalty.until_epoch
    return penalty.coefficient > 0 and within


def add_gradient(penalty: Penalty, parameters: Parameters, gradients: Parameters) -> None:
    """Add the penalty's gradient to that of the loss; each row of the stack has its own norm."""
    if penalty.form == "unsquared":
        norms = weight_norms(parameters).clamp_min(torch.finfo(torch.float32).tiny)
        for name, parameter in parameters.items():
            scale = (decay(penalty) / norms).reshape(-1, *[1] * (parameter.dim() - 1))
            gradients[name].add_(parameter * scale)
        return
    for name, parameter in parameters.items():
        gradients[name].add_(parameter, alpha=decay(penalty))


def decay(penalty: Penalty) -> float:
    """The factor of w in the penalty's gradient; of w/|w| if the norm is not squared."""
    return penalty.coefficient * (2.0 if penalty.form == "squared" else 1.0)


def weight_norms(parameters: Parameters) -> Tensor:
    """|w| over all weights and biases, one number for each row of the stack."""
    squares = [parameter.flatten(1).square().sum(1) for parameter in parameters.values()]
    return torch.stack(squares).sum(0).sqrt()
