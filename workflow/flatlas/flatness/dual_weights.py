"""The dual weights of a layer: they give a training image a test image's pre-activation."""

import torch
from torch import Tensor

# A Δw this small relative to w is round-off between equal activities and counts as zero.
ROUND_OFF = 1e-12


def dual_shift(weight: Tensor, a: Tensor, test_a: Tensor) -> Tensor:
    """The smallest Δw of every pair (pairs, n_in, n_out) that gives a the pre-activation of a′.

    Δw_ij = a_i / |a|² Σ_i′ (a′_i′ − a_i′) w_i′j (Eq. 6). `weight` is (n_in, n_out); a of the
    partners and a′ of the test images are (pairs, n_in). The layer's bias stays the same. Where a =
    0, no Δw has an effect, and Δw is zero.
    """
    squared = a.square().sum(1, keepdim=True)
    along = torch.where(squared > 0, a / squared, 0.0)
    return torch.einsum("ki,kj->kij", along, (test_a - a) @ weight)


def vanishing(shift: Tensor, weight: Tensor) -> Tensor:
    """Which pairs have Δw = 0, up to round-off: they have no effective gradient."""
    return shift.flatten(1).norm(dim=1) <= ROUND_OFF * weight.norm()


def gradient_scale(shift: Tensor, loss_gap: Tensor, zero: Tensor) -> Tensor:
    """Δl / |Δw|² of every pair: the effective gradient is g = scale · Δw (Eq. 8).

    It is zero for the pairs that `zero` marks.
    """
    return torch.where(zero, 0.0, loss_gap / shift.square().sum((1, 2)))
