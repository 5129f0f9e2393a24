"""The flatness F_n of the training loss along each direction (§2.4, Fig. S6)."""

from collections.abc import Mapping
from typing import Any

import torch
from pandas import DataFrame

from flatlas.flatness.moments import moments
from flatlas.measures.decomposition import decompose, layer_weight, ranked
from flatlas.measures.landscape import interval
from flatlas.measures.solution import Solution


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`directions` has a row for each n, by descending σ_g: F_n is the distance between two ends.

    At the ends the mean training loss reaches `factor` times its value at the solution: to the
    `left`, against the eigenvector, and to the `right`. The sign of the eigenvector is arbitrary.
    Residual and iterations are those of the worse end.
    """
    layer = options["layer"]
    found = decompose(solution, layer, options["directions"])
    unit_vectors = found.eigenvectors.T.reshape(-1, *layer_weight(solution, layer).shape)
    left, right = interval(
        solution,
        layer,
        found.train.activity.unsqueeze(0),
        unit_vectors,
        options["factor"],
    )
    sigma_g = moments(found.components, found.scale)["sigma_g"]
    columns = {
        "eigenvalue": found.eigenvalues,
        "sigma_g": sigma_g,
        "flatness": right.at - left.at,
        "left": left.at,
        "right": right.at,
        "converged": left.converged & right.converged,
        "iterations": torch.maximum(left.iterations, right.iterations),
        "residual": torch.maximum(left.residual, right.residual),
    }
    return {"directions": ranked(columns, sigma_g)}
