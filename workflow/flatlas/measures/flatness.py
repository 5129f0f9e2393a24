"""The flatness F_n of the training loss along each direction (§2.4, Fig. S6)."""

from collections.abc import Mapping
from typing import Any

from pandas import DataFrame

from flatlas.flatness.moments import moments
from flatlas.measures.decomposition import decompose, layer_weight, ranked
from flatlas.measures.landscape import both, interval
from flatlas.measures.solution import Solution


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`directions` has a row for each n, by descending σ_g: F_n is the distance between two ends.

    At the ends the mean training loss reaches `factor` times its value at the solution: to the
    `left`, against the eigenvector, and to the `right`. The sign of the eigenvector is arbitrary.
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
        **both(left, right),
    }
    return {"directions": ranked(columns, sigma_g)}
