"""The sharpness spectrum with smaller dual shifts, s_w Δw (§2.4, Fig. S5)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pandas import DataFrame
from torch import Tensor

from flatlas.flatness.dual_weights import gradient_scale
from flatlas.flatness.moments import moments
from flatlas.measures.decomposition import (
    Decomposition,
    decompose,
    layer_weight,
    ranked,
)
from flatlas.measures.solution import Solution
from flatlas.nets.loss import sample_losses


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`directions` has a row for each scale s_w and n, by descending σ_g at that scale.

    `summary` has a row for each scale: T_g is the sum of σ_g², T_h that of H_n.
    """
    layer = options["layer"]
    found = decompose(solution, layer, options["directions"])
    directions, totals = [], []
    for scale in options["scales"]:
        loss_gap = _loss_gap(solution, layer, found, scale)
        slopes = gradient_scale(scale * found.shift, loss_gap, found.zero)
        sigma_g = moments(scale * found.components, slopes)["sigma_g"]
        table = ranked({"eigenvalue": found.eigenvalues, "sigma_g": sigma_g}, sigma_g)
        directions.append(table.assign(scale=scale))
        total = {"T_g": sigma_g.square().sum().item(), "T_h": found.eigenvalues.sum().item()}
        totals.append({"scale": scale, **total})
    return {"directions": pd.concat(directions, ignore_index=True), "summary": DataFrame(totals)}


def _loss_gap(solution: Solution, layer: str, found: Decomposition, scale: float) -> Tensor:
    """Δl = l(x, w + s_w Δw) − l(x, w): the partner's pre-activation goes s_w of the way."""
    a = found.train.activity[found.partners.train]
    test_a = found.test.activity[found.partners.test]
    z = solution.preactivation(layer, a.unsqueeze(0))
    moved = z + scale * (test_a - a) @ layer_weight(solution, layer)
    labels = solution.test_labels[:, found.partners.test]
    losses = sample_losses(solution.logits_from(layer, moved), labels).squeeze(0)
    return losses - found.train.losses[found.partners.train]
