"""RMSProp (Tieleman & Hinton 2012)."""

import torch

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import RmsProp
from flatlas.training.optimizers.from_torch import FromTorch


def build(spec: RmsProp, parameters: Parameters, generators: list[torch.Generator]) -> FromTorch:
    """Steps scaled by a running mean of the squared gradient."""
    return FromTorch(
        parameters,
        lambda tensors: torch.optim.RMSprop(
            tensors, lr=spec.lr, alpha=spec.smoothing, eps=spec.epsilon
        ),
    )
