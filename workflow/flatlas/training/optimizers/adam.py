"""Adam (Kingma & Ba 2015)."""

import torch

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Adam
from flatlas.training.noise import Noise
from flatlas.training.optimizers.from_torch import FromTorch
from flatlas.training.rule import Rule


def build(spec: Adam, parameters: Parameters, noise: list[Noise]) -> FromTorch:
    """Steps scaled by running means of the gradient and of its square."""
    return FromTorch(parameters, torch.optim.Adam, betas=spec.betas, eps=spec.epsilon)


def rule(spec: Adam) -> Rule:
    """The same step in the compiled kernel."""
    return Rule("adam", (*spec.betas, spec.epsilon), slots=("exp_avg", "exp_avg_sq"))
