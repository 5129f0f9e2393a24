"""Adagrad (Duchi et al. 2011)."""

import torch

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Adagrad
from flatlas.training.noise import Noise
from flatlas.training.optimizers.from_torch import FromTorch
from flatlas.training.rule import Rule


def build(spec: Adagrad, parameters: Parameters, noise: list[Noise]) -> FromTorch:
    """Steps scaled by the sum of all squared gradients so far."""
    begin = spec.initial_accumulator or 0.0
    return FromTorch(
        parameters, torch.optim.Adagrad, eps=spec.epsilon, initial_accumulator_value=begin
    )


def rule(spec: Adagrad) -> Rule | None:
    """The same step in the compiled kernel, whose sums begin at 0; None if the spec's do not."""
    if spec.initial_accumulator:
        return None
    return Rule("adagrad", (spec.epsilon,), slots=("sum",))
