"""SGD with heavy-ball or Nesterov momentum."""

import torch

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Momentum
from flatlas.training.noise import Noise
from flatlas.training.optimizers.from_torch import FromTorch
from flatlas.training.rule import Rule


def build(spec: Momentum, parameters: Parameters, noise: list[Noise]) -> FromTorch:
    """v <- momentum * v + gradient; w <- w - lr * v."""
    options = {"momentum": spec.momentum, "nesterov": spec.nesterov}
    return FromTorch(parameters, torch.optim.SGD, **options)


def rule(spec: Momentum) -> Rule:
    """The same step in the compiled kernel."""
    name = "nesterov" if spec.nesterov else "momentum"
    return Rule(name, (spec.momentum,), slots=("momentum_buffer",))
