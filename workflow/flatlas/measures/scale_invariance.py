"""The duality after scaling a layer by p and the next by 1/p (§3, after Dinh et al.).

The net remains the same function. Eigenvectors, loss gaps and every ΔL_n do not change; Δw and σ_w
scale as p, g and σ_g as 1/p, and the Hessian as 1/p².
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pandas import DataFrame
from torch import Tensor

from flatlas.flatness.moments import moments
from flatlas.measures.decomposition import decompose, ranked
from flatlas.measures.solution import Solution
from flatlas.measures.under_scaling import under_scaling


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`directions` has a row for each of the `factors` p and each n, by descending σ_g at p = 1.

    Everything is recomputed for each p. Eigenvectors are identified by the rank of their
    eigenvalue, so n is the same direction for every p. Those that share the eigenvalue 0, such as a
    silent neuron's, are arbitrary: only their sums must agree.
    """
    layer, directions = options["layer"], options["directions"]
    sigma_g = _spectrum(solution, layer, directions)["sigma_g"]
    tables = []
    for factor, scaled in under_scaling(solution, options):
        table = ranked(_spectrum(scaled, layer, directions), sigma_g)
        tables.append(table.assign(factor=factor))
    return {"directions": pd.concat(tables, ignore_index=True)}


def _spectrum(solution: Solution, layer: str, directions: str) -> dict[str, Tensor]:
    """H_n, σ_g, σ_w and ΔL_n, by ascending H_n."""
    found = decompose(solution, layer, directions)
    over_pairs = moments(found.components, found.scale)
    columns = {name: over_pairs[name] for name in ("sigma_g", "sigma_w", "gap")}
    return {"eigenvalue": found.eigenvalues, **columns}
