"""How the duality of a layer depends on the number of test images (Figs. S1, S2)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from pandas import DataFrame

from flatlas.errors import FlatlasError
from flatlas.flatness.moments import moments
from flatlas.flatness.split import live
from flatlas.measures.decomposition import Decomposition, decompose, ranked
from flatlas.measures.solution import Solution


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`directions` has a row for each N_te and n, by descending σ_g; `summary` one for each N_te.

    Each of the `sizes` N_te uses the first N_te of the drawn test images. The ratios are means of
    |µ/σ| over the directions whose σ_g is above round-off.
    """
    sizes = options["sizes"]
    _refuse_more(sizes, solution.test_labels.shape[1])
    found = decompose(solution, options["layer"], options["directions"])
    taken = [_first(found, size) for size in sizes]
    directions, rows = zip(*taken, strict=True)
    return {"directions": pd.concat(directions, ignore_index=True), "summary": DataFrame(rows)}


def _refuse_more(sizes: Sequence[int], drawn: int) -> None:
    if max(sizes) > drawn:
        raise FlatlasError(
            f"sizes asks for {max(sizes)} test images, but only {drawn} are drawn: "
            "give sizes up to that, or raise data.test_size."
        )


def _first(found: Decomposition, size: int) -> tuple[DataFrame, dict[str, float]]:
    """The table of directions and the row of the summary, for the first `size` test images."""
    pairs = int((found.partners.test < size).sum())
    if not pairs:
        raise FlatlasError(
            f"none of the first {size} test images has a training image with its label: "
            "give larger sizes."
        )
    columns = moments(found.components[:pairs], found.scale[:pairs])
    table = ranked(columns, columns["sigma_g"])
    alive = table[live(table["sigma_g"].to_numpy())]
    row = {
        "test_images": size,
        "pairs": pairs,
        "pairwise_gap": found.loss_gap[:pairs].mean().item(),
        "dual_gap": table["gap"].sum(),
        "mu_gap": table["gap_mu"].sum(),
        "mu_w_ratio": (alive["mu_w"] / alive["sigma_w"]).abs().mean(),
        "mu_g_ratio": (alive["mu_g"] / alive["sigma_g"]).abs().mean(),
    }
    return table.assign(test_images=size).drop(columns=["correlation", "gap_mu"]), row
