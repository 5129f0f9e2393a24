"""Weights before training, by scale."""

from math import sqrt

import torch
from torch import Tensor

from flatlas.plan.net_specs import HeNormal, InitSpec, XavierUniform


def initial_parameter(
    init: InitSpec,
    name: str,
    shape: tuple[int, ...],
    fans: tuple[int, int],
    generator: torch.Generator,
) -> Tensor:
    """One weight matrix, kernel or bias vector of one member."""
    n_in, n_out = fans
    is_bias = name.endswith(".bias")
    if isinstance(init, HeNormal):
        spread = init.bias_std if is_bias else sqrt(2 / n_in)
        return torch.randn(shape, generator=generator) * spread
    if isinstance(init, XavierUniform):
        bound = 0.0 if is_bias else init.scale * sqrt(6 / (n_in + n_out))
    else:
        bound = init.scale / sqrt(n_in)
    return (2 * torch.rand(shape, generator=generator) - 1) * bound
