"""Stochastic gradient descent."""

import torch

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Sgd
from flatlas.training.optimizers.from_torch import FromTorch


def build(spec: Sgd, parameters: Parameters, generators: list[torch.Generator]) -> FromTorch:
    """w <- w - lr * gradient."""
    return FromTorch(parameters, lambda tensors: torch.optim.SGD(tensors, lr=spec.lr))
