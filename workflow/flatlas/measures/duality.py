"""The activity-weight duality of one dense layer: the generalization gap, direction by direction.

Every test image x′ is paired with its training partner x. The change of the layer's weights that
makes of x what x′ is (the dual weights, Δw) and the loss gap Δl along it (the effective gradient,
g) are decomposed along the eigenvectors of the layer's Hessian (§2.2, Eqs. 6-11).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.measures.curvature import fisher, hessian
from flatlas.measures.dual_weights import dual_shift, gradient_scale, vanishing
from flatlas.measures.partners import Partners, nearest_partners
from flatlas.measures.solution import Solution
from flatlas.measures.split import steepest_drop
from flatlas.nets.loss import predictions, sample_losses

MATRICES = {"hessian": hessian, "fisher": fisher}
TINY = torch.finfo(torch.float64).tiny


@dataclass(frozen=True)
class Seen:
    """What the net makes of some images: the layer's incoming activity, losses, error."""

    activity: Tensor
    losses: Tensor
    error: float


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`directions` has a row for each n, by descending σ_g; `summary` is one row.

    An eigenvector's sign is arbitrary, and with it the signs of its mu_g and mu_w. T_g, T_h and
    T_w are the sums of σ_g², H_n and σ_w²; `layer_norm` is |w| of the layer, `weight_norm` that
    of the net, biases included. Training loss and error are those of all images trained on,
    mislabelled ones too, as is the Hessian.
    """
    layer = options["layer"]
    weight = solution.parameters[f"{solution.net.dense(layer).name}.weight"].squeeze(0)
    train = _see(solution, layer, solution.inputs, solution.labels)
    test = _see(solution, layer, solution.test_inputs, solution.test_labels)
    partners = _partners(solution)

    loss_gap = test.losses[partners.test] - train.losses[partners.train]
    shift = dual_shift(weight, train.activity[partners.train], test.activity[partners.test])
    zero = vanishing(shift, weight)
    scale = gradient_scale(shift, loss_gap, zero)

    matrix = MATRICES[options["directions"]](solution, layer, train.activity.unsqueeze(0))
    eigenvalues, eigenvectors = torch.linalg.eigh(matrix)
    directions = _directions(shift.flatten(1) @ eigenvectors, scale, eigenvalues)
    summary = {
        "pairs": len(loss_gap),
        "zero_pairs": int(zero.sum()),
        "unpartnered": partners.unpartnered,
        **_gaps(directions, loss_gap, _sharp(directions, options["sharp"])),
        "T_g": (directions["sigma_g"] ** 2).sum(),
        "T_h": directions["eigenvalue"].sum(),
        "T_w": (directions["sigma_w"] ** 2).sum(),
        "layer_norm": weight.norm().item(),
        "weight_norm": _norm(solution),
        "train_loss": train.losses.mean().item(),
        "test_loss": test.losses.mean().item(),
        "test_error": test.error,
        "train_error": train.error,
        "eigen_residual": _eigen_residual(matrix, eigenvalues, eigenvectors),
    }
    return {"directions": directions, "summary": DataFrame([summary])}


def _see(solution: Solution, layer: str, inputs: Tensor, labels: Tensor) -> Seen:
    activity = solution.into(layer, inputs)
    logits = solution.onward(layer, solution.preactivation(layer, activity))
    wrong = predictions(logits) != labels
    losses = sample_losses(logits, labels)
    return Seen(activity.squeeze(0), losses.squeeze(0), wrong.double().mean().item())


def _partners(solution: Solution) -> Partners:
    """Partners by pixels; an image that was trained on with a wrong label is nobody's partner."""
    return nearest_partners(
        solution.test_inputs.squeeze(0).flatten(1),
        solution.test_labels.squeeze(0),
        solution.inputs.squeeze(0).flatten(1),
        torch.where(solution.clean, solution.labels, -1).squeeze(0),
    )


def _directions(components: Tensor, scale: Tensor, eigenvalues: Tensor) -> DataFrame:
    """Means, deviations and correlation over pairs of the components of g and Δw (Eq. 10).

    `components` are Δw_n,k as (pairs, directions), and g_n,k = scale_k Δw_n,k. The gap of a
    direction, c_n σ_g σ_w (Eq. 11), is their covariance.
    """
    gradients = scale.unsqueeze(1) * components
    mu_w, mu_g = components.mean(0), gradients.mean(0)
    components, gradients = components - mu_w, gradients - mu_g
    sigma_w = components.square().mean(0).sqrt()
    sigma_g = gradients.square().mean(0).sqrt()
    gap = (gradients * components).mean(0)
    product = sigma_g * sigma_w
    columns = {
        "eigenvalue": eigenvalues,
        "sigma_g": sigma_g,
        "sigma_w": sigma_w,
        "correlation": torch.where(product > 0, gap / product, 0.0),
        "mu_g": mu_g,
        "mu_w": mu_w,
        "gap": gap,
        "gap_mu": mu_g * mu_w,
    }
    order = sigma_g.argsort(descending=True, stable=True)
    table = DataFrame({name: column[order].cpu().numpy() for name, column in columns.items()})
    table.insert(0, "n", range(1, len(table) + 1))
    return table


def _sharp(directions: DataFrame, sharp: int | str) -> int:
    """n_s, the number of sharp directions: as given, or at the steepest drop of σ_g."""
    if sharp == "steepest":
        return steepest_drop(directions["sigma_g"].to_numpy())
    if int(sharp) > len(directions):
        raise FlatlasError(
            f"sharp is {sharp}, but the layer has {len(directions)} directions: "
            "give a number up to that, or 'steepest'."
        )
    return int(sharp)


def _gaps(directions: DataFrame, loss_gap: Tensor, n_sharp: int) -> dict[str, float]:
    """ΔL̃ from the losses (Eq. 7), ΔL from the directions (Eq. 11), its two parts and the µ-term.

    That they add up (Eq. 10) is an identity for pairs with dual weights; the residual, relative
    to the mean |Δl|, shows round-off and what pairs without any leave unexplained.
    """
    gap, gap_mu = directions["gap"], directions["gap_mu"]
    direct = loss_gap.mean().item()
    size = max(loss_gap.abs().mean().item(), TINY)
    return {
        "pairwise_gap": direct,
        "dual_gap": gap.sum(),
        "mu_gap": gap_mu.sum(),
        "gap_sharp": gap[:n_sharp].sum(),
        "gap_flat": gap[n_sharp:].sum(),
        "n_sharp": n_sharp,
        "sum_rule_residual": abs((gap + gap_mu).sum() - direct) / size,
    }


def _norm(solution: Solution) -> float:
    """The norm of all weights and biases of the net."""
    return torch.stack([tensor.norm() for tensor in solution.parameters.values()]).norm().item()


def _eigen_residual(matrix: Tensor, eigenvalues: Tensor, eigenvectors: Tensor) -> float:
    """The largest |H v − λ v|, relative to |H|."""
    residual = (matrix @ eigenvectors - eigenvectors * eigenvalues).norm(dim=0).max()
    return (residual / eigenvalues.abs().max().clamp_min(TINY)).item()
