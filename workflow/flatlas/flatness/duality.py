"""The activity-weight duality of a dense layer (Feng, Zhang & Tu), from activities and losses.

A test example x′ is paired with a training example x. With the dual weights Δw, x gets the
pre-activation that x′ has without them. With the gap Δl of the two losses, g = Δl Δw / |Δw|² is the
effective gradient. Along each eigenvector of the layer's Hessian, the covariance of Δw and g is a
part of the mean gap.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import torch
from torch import Tensor

from flatlas.flatness.dual_weights import dual_shift, gradient_scale, vanishing
from flatlas.flatness.moments import moments
from flatlas.flatness.split import gaps, sharp_directions


@dataclass(frozen=True)
class Duality:
    """Arrays have a number for each direction, by descending σ_g.

    `gap` is c_n σ_g σ_w and `gap_mu` is µ_g µ_w. Their sums, `dual_gap` and `mu_gap`, add up to the
    `pairwise_gap`, the mean of Δl. `gap_sharp` and `gap_flat` are the sums of `gap` over the first
    `n_sharp` directions and over the others. Pairs with Δw = 0 have no effective gradient;
    `zero_pairs` counts them.
    """

    eigenvalue: np.ndarray
    sigma_g: np.ndarray
    sigma_w: np.ndarray
    correlation: np.ndarray
    mu_g: np.ndarray
    mu_w: np.ndarray
    gap: np.ndarray
    gap_mu: np.ndarray
    pairs: int
    zero_pairs: int
    pairwise_gap: float
    dual_gap: float
    mu_gap: float
    gap_sharp: float
    gap_flat: float
    n_sharp: int
    sum_rule_residual: float


def duality(
    weight: Tensor, a: Tensor, test_a: Tensor, loss_gap: Tensor, hessian: Tensor, sharp: int | str
) -> Duality:
    """The duality of a layer's weights W (n_in, n_out), with the Hessian in W, flattened.

    The activities a of the partners and a′ of the test examples are (pairs, n_in).
    """
    shift = dual_shift(weight, a, test_a)
    zero = vanishing(shift, weight)
    eigenvalues, eigenvectors = torch.linalg.eigh(hessian)
    components = shift.flatten(1) @ eigenvectors
    columns = {
        "eigenvalue": eigenvalues,
        **moments(components, gradient_scale(shift, loss_gap, zero)),
    }
    order = columns["sigma_g"].argsort(descending=True, stable=True)
    found: dict[str, Any] = {name: column[order].cpu().numpy() for name, column in columns.items()}
    n_sharp = sharp_directions(found["sigma_g"], sharp)
    found |= gaps(found["gap"], found["gap_mu"], loss_gap, n_sharp)
    return Duality(**found, pairs=len(loss_gap), zero_pairs=int(zero.sum()))


def add_curvature(total: Tensor, a: Tensor, curvature: Tensor) -> None:
    """Add Σ over examples of ∂²l/∂W² to a sum (n_in, n_out, n_in, n_out), where z = a W.

    The term of an example is a_i a_i′ C_jj′ with the curvature C = ∂²l/∂z². `a` is (examples,
    n_in).
    """
    for j, other in combinations_with_replacement(range(curvature.shape[1]), 2):
        block = (a.T * curvature[:, j, other]) @ a
        total[:, j, :, other] += block
        if other != j:
            total[:, other, :, j] += block
