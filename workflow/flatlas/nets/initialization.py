"""The initial weights of a net, and their variances."""

from math import sqrt

import torch
from torch import Tensor

from flatlas.plan.initializations import HeNormal, InitSpec, ScaledNormal, XavierUniform


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
    if isinstance(init, HeNormal | ScaledNormal):
        spread = init.bias_std if is_bias else sqrt(variances(init, fans)[0] / n_in)
        return torch.randn(shape, generator=generator) * spread
    if isinstance(init, XavierUniform):
        bound = 0.0 if is_bias else init.scale * sqrt(6 / (n_in + n_out))
    else:
        bound = init.scale / sqrt(n_in)
    return (2 * torch.rand(shape, generator=generator) - 1) * bound


def variances(init: InitSpec, fans: tuple[int, int]) -> tuple[float, float]:
    """n_in Var(w) and Var(b) of what `initial_parameter` draws."""
    n_in, n_out = fans
    if isinstance(init, HeNormal):
        return 2.0, init.bias_std**2
    if isinstance(init, ScaledNormal):
        return init.weight_std**2, init.bias_std**2
    # A uniform variable between -s and s has the variance s²/3.
    if isinstance(init, XavierUniform):
        return 2 * init.scale**2 * n_in / (n_in + n_out), 0.0
    return init.scale**2 / 3, init.scale**2 / (3 * n_in)
