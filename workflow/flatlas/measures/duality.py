"""The generalization gap of a net, from the sharpness and the dual weights of each direction."""

from collections.abc import Mapping
from typing import Any

import torch
from pandas import DataFrame

from flatlas.flatness.moments import moments
from flatlas.flatness.split import gaps, sharp_directions, sums
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
    direction is the sum of σ_w up to that direction. Where the matrix has no curvature, the solver
    is free to choose eigenvectors, and σ_w and S_w depend on its choice. S_w_curved leaves out
    these directions: those with |H_n| up to ε N max |H_n|, with the machine epsilon ε and N
    directions. T_g, T_h and T_w are the sums of σ_g², H_n and σ_w²; `layer_norm` is |w| of the
    layer and `weight_norm` that of the net, including biases. Training loss, training error and the
    Hessian cover all training images, also the mislabelled ones.
    """
    layer = options["layer"]
    found = decompose(solution, layer, options["directions"])
    directions = _directions(found)
    arrays = {name: column.to_numpy() for name, column in directions.items()}
    summary = {
        "pairs": len(found.loss_gap),
        "zero_pairs": int(found.zero.sum()),
        "unpartnered": found.partners.unpartnered,
        **gaps(
            arrays["gap"],
            arrays["gap_mu"],
            found.loss_gap,
            sharp_directions(arrays["sigma_g"], options["sharp"]),
        ),
        **sums(arrays["eigenvalue"], arrays["sigma_g"], arrays["sigma_w"]),
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
    return table.assign(S_w=table["sigma_w"].cumsum())


def _norm(solution: Solution) -> float:
    """The norm of all weights and biases of the net."""
    return torch.stack([tensor.norm() for tensor in solution.parameters.values()]).norm().item()


def _eigen_residual(found: Decomposition) -> float:
    """The largest |H v − λ v|, relative to |H|."""
    image = found.matrix @ found.eigenvectors
    residual = image.addcmul_(found.eigenvectors, found.eigenvalues, value=-1).norm(dim=0).max()
    return (residual / found.eigenvalues.abs().max().clamp_min(TINY)).item()
