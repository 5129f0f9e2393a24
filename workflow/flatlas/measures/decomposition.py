"""The activity-weight duality of one dense layer, pair by pair and direction by direction (§2.2).

Every test image x′ is paired with its training partner x. The dual weights Δw change the layer so
that x gives what x′ gave; the effective gradient g is the loss gap Δl along Δw. Both have
components along the eigenvectors of the layer's Hessian (Eqs. 6-11).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.measures.curvature import fisher, hessian
from flatlas.measures.dual_weights import dual_shift, gradient_scale, vanishing
from flatlas.measures.partners import Partners, partners_of
from flatlas.measures.solution import Solution
from flatlas.nets.loss import predictions, sample_losses

MATRICES = {"hessian": hessian, "fisher": fisher}
# Directions whose moments are computed at a time.
STRIP = 64


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


def moments(components: Tensor, scale: Tensor) -> dict[str, Tensor]:
    """Means, deviations and correlation over pairs of the components of g and Δw (Eq. 10).

    g_n,k = scale_k Δw_n,k. Their covariance is the gap of a direction, c_n σ_g σ_w (Eq. 11).
    """
    # One strip of directions at a time stays in the processor's cache.
    strips = components.split(STRIP, dim=1)
    moved = zip(*(_moments_of(strip, scale) for strip in strips), strict=True)
    mu_w, mu_g, sigma_w, sigma_g, gap = (torch.cat(parts) for parts in moved)
    product = sigma_g * sigma_w
    return {
        "sigma_g": sigma_g,
        "sigma_w": sigma_w,
        "correlation": torch.where(product > 0, gap / product, 0.0),
        "mu_g": mu_g,
        "mu_w": mu_w,
        "gap": gap,
        "gap_mu": mu_g * mu_w,
    }


def _moments_of(components: Tensor, scale: Tensor) -> tuple[Tensor, ...]:
    """mu_w, mu_g, sigma_w, sigma_g and the gap of some directions."""
    components = components.contiguous()
    gradients = scale.unsqueeze(1) * components
    mu_w, mu_g = components.mean(0), gradients.mean(0)
    components, gradients = components - mu_w, gradients.sub_(mu_g)
    gap = (gradients * components).mean(0)
    sigma_w = components.square_().mean(0).sqrt()
    sigma_g = gradients.square_().mean(0).sqrt()
    return mu_w, mu_g, sigma_w, sigma_g, gap


def ranked(columns: Mapping[str, Tensor], sigma_g: Tensor) -> DataFrame:
    """A row for each direction, by descending σ_g, with its rank `n`."""
    order = sigma_g.argsort(descending=True, stable=True)
    table = DataFrame({name: column[order].cpu().numpy() for name, column in columns.items()})
    table.insert(0, "n", range(1, len(table) + 1))
    return table


def _see(solution: Solution, layer: str, inputs: Tensor, labels: Tensor) -> Seen:
    activity = solution.into(layer, inputs)
    logits = solution.logits_from(layer, solution.preactivation(layer, activity))
    wrong = predictions(logits) != labels
    losses = sample_losses(logits, labels)
    return Seen(activity.squeeze(0), losses.squeeze(0), wrong.double().mean().item())
