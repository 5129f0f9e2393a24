"""Adagrad (Duchi et al. 2011)."""

import torch

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Adagrad
from flatlas.training.optimizers.from_torch import FromTorch


def build(spec: Adagrad, parameters: Parameters, generators: list[torch.Generator]) -> FromTorch:
    """Steps scaled by the sum of all squared gradients so far."""
    return FromTorch(
        parameters, lambda tensors: torch.optim.Adagrad(tensors, lr=spec.lr, eps=spec.epsilon)
    )
