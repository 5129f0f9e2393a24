"""AdamW (Loshchilov & Hutter 2019): Adam with decoupled weight decay."""

import torch

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import AdamW
from flatlas.training.noise import Noise
from flatlas.training.optimizers.from_torch import FromTorch
from flatlas.training.rule import Rule


def build(spec: AdamW, parameters: Parameters, noise: list[Noise]) -> FromTorch:
    """w <- (1 - lr * decay) w, followed by Adam's step; the gradient is taken before both."""
    options = {"betas": spec.betas, "eps": spec.epsilon, "weight_decay": spec.decay}
    return FromTorch(parameters, torch.optim.AdamW, **options)


def rule(spec: AdamW) -> Rule:
    """The same step in the compiled kernel."""
    numbers = (*spec.betas, spec.epsilon, spec.decay)
    return Rule("adamw", numbers, slots=("exp_avg", "exp_avg_sq"))
