"""The activity-weight duality of one dense layer, pair by pair and direction by direction (§2.2).

Every test image x′ is paired with its training partner x. With the dual weights Δw, x gets the
pre-activation that x′ has without them; the effective gradient g is the loss gap Δl along Δw. Both
have components along the eigenvectors of the layer's Hessian (Eqs. 6-11).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.flatness.dual_weights import dual_shift, gradient_scale, vanishing
from flatlas.flatness.partners import Partners
from flatlas.measures.curvature import fisher, hessian
from flatlas.measures.partners import partners_of
from flatlas.measures.solution import Solution
from flatlas.measures.tables import table_of
from flatlas.nets.loss import predictions, sample_losses

MATRICES = {"hessian": hessian, "fisher": fisher}


@dataclass(frozen=True)
class Seen:
    """The net's results for some images: the layer's input activity, the losses and the error."""

    activity: Tensor
    losses: Tensor
    error: float


@dataclass(frozen=True)
class Decomposition:
    """The pairs of a solution, and the directions that their Δw and g are decomposed along.

    `loss_gap` is Δl and `shift` is Δw of every pair; `zero` marks pairs with Δw = 0. For each pair
    g = scale · Δw. `components` are Δw_n,k as (pairs, directions), along the columns of
    `eigenvectors`, by ascending eigenvalue of `matrix`.
    """

    train: Seen
    test: Seen
    partners: Partners
    loss_gap: Tensor
    shift: Tensor
    zero: Tensor
    scale: Tensor
    matrix: Tensor
    eigenvalues: Tensor
    eigenvectors: Tensor
    components: Tensor


def decompose(solution: Solution, layer: str, directions: str) -> Decomposition:
    """Pair the images of a solution, and decompose along the matrix that `directions` names."""
    weight = layer_weight(solution, layer)
    train = _see(solution, layer, solution.inputs, solution.labels)
    test = _see(solution, layer, solution.test_inputs, solution.test_labels)
    partners = partners_of(solution)

    loss_gap = test.losses[partners.test] - train.losses[partners.train]
    shift = dual_shift(weight, train.activity[partners.train], test.activity[partners.test])
    zero = vanishing(shift, weight)

    matrix = MATRICES[directions](solution, layer, train.activity.unsqueeze(0))
    eigenvalues, eigenvectors = torch.linalg.eigh(matrix)
    return Decomposition(
        train=train,
        test=test,
        partners=partners,
        loss_gap=loss_gap,
        shift=shift,
        zero=zero,
        scale=gradient_scale(shift, loss_gap, zero),
        matrix=matrix,
        eigenvalues=eigenvalues,
        eigenvectors=eigenvectors,
        components=shift.flatten(1) @ eigenvectors,
    )


def layer_weight(solution: Solution, layer: str) -> Tensor:
    """W (n_in, n_out) of a dense layer; any other layer is an error."""
    return solution.parameters[f"{solution.net.dense(layer).name}.weight"].squeeze(0)


def ranked(columns: Mapping[str, Tensor], sigma_g: Tensor) -> DataFrame:
    """A row for each direction, by descending σ_g, with its rank `n`."""
    order = sigma_g.argsort(descending=True, stable=True)
    return table_of({name: column[order] for name, column in columns.items()}, numbered="n")


def _see(solution: Solution, layer: str, inputs: Tensor, labels: Tensor) -> Seen:
    activity = solution.into(layer, inputs)
    logits = solution.logits_from(layer, solution.preactivation(layer, activity))
    wrong = predictions(logits) != labels
    losses = sample_losses(logits, labels)
    return Seen(activity.squeeze(0), losses.squeeze(0), wrong.double().mean().item())
