"""The generalization gap of a net, from the sharpness and the dual weights of each direction."""

from collections.abc import Mapping
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.flatness.moments import moments
from flatlas.flatness.split import steepest_drop
from flatlas.measures.decomposition import (
    Decomposition,
    decompose,
    layer_weight,
    ranked,
)
from flatlas.measures.solution import Solution

TINY = torch.finfo(torch.float64).tiny


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`directions` has a row for each n, by descending σ_g; `summary` is one row.

    The sign of an eigenvector is arbitrary, and so are the signs of its mu_g and mu_w. S_w of a
    direction is the sum of σ_w up to that direction. T_g, T_h and T_w are the sums of σ_g², H_n and
    σ_w²; `layer_norm` is |w| of the layer and `weight_norm` that of the net, including biases.
    Training loss, training error and the Hessian cover all training images, also the mislabelled
    ones.
    """
    layer = options["layer"]
    found = decompose(solution, layer, options["directions"])
    directions = _directions(found)
    summary = {
        "pairs": len(found.loss_gap),
        "zero_pairs": int(found.zero.sum()),
        "unpartnered": found.partners.unpartnered,
        **_gaps(directions, found.loss_gap, _sharp(directions, options["sharp"])),
        "S_w": directions["sigma_w"].sum(),
        "T_g": (directions["sigma_g"] ** 2).sum(),
        "T_h": directions["eigenvalue"].sum(),
        "T_w": (directions["sigma_w"] ** 2).sum(),
        "layer_norm": layer_weight(solution, layer).norm().item(),
        "weight_norm": _norm(solution),
        "train_loss": found.train.losses.mean().item(),
        "test_loss": found.test.losses.mean().item(),
        "test_error": found.test.error,
        "train_error": found.train.error,
        "eigen_residual": _eigen_residual(found),
    }
    return {"directions": directions, "summary": DataFrame([summary])}


def _directions(found: Decomposition) -> DataFrame:
    columns = {"eigenvalue": found.eigenvalues, **moments(found.components, found.scale)}
    table = ranked(columns, columns["sigma_g"])
    table.insert(list(table).index("sigma_w") + 1, "S_w", table["sigma_w"].cumsum())
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

    For pairs with dual weights it is an identity that they add up (Eq. 10). The residual, relative
    to the mean |Δl|, shows round-off and the part of pairs without dual weights.
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


def _eigen_residual(found: Decomposition) -> float:
    """The largest |H v − λ v|, relative to |H|."""
    image = found.matrix @ found.eigenvectors
    residual = image.addcmul_(found.eigenvectors, found.eigenvalues, value=-1).norm(dim=0).max()
    return (residual / found.eigenvalues.abs().max().clamp_min(TINY)).item()
