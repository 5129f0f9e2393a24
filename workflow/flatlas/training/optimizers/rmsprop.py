"""RMSProp (Tieleman & Hinton 2012)."""

import torch

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import RmsProp
from flatlas.training.noise import Noise
from flatlas.training.optimizers.from_torch import FromTorch
from flatlas.training.rule import Rule


def build(spec: RmsProp, parameters: Parameters, noise: list[Noise]) -> FromTorch:
    """Steps scaled by a running mean of the squared gradient."""
    return FromTorch(parameters, torch.optim.RMSprop, alpha=spec.smoothing, eps=spec.epsilon)


def rule(spec: RmsProp) -> Rule:
    """The same step in the compiled kernel."""
    return Rule("rmsprop", (spec.smoothing, spec.epsilon), slots=("square_avg",))
