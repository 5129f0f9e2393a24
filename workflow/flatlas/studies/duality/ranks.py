"""Directions on a logarithmic axis: bins of ranks, and ranks picked at even distances."""

import numpy as np
import pandas as pd

A_DECADE = 10


def binned(directions: pd.DataFrame, keys: list[str], columns: list[str]) -> pd.DataFrame:
    """Means over bins of ranks n, for each net; a bin stands at the geometric mean of its ranks.

    Ten bins a decade: the sharpest directions stand nearly alone, the flat ones by the dozen.
    """
    nets = ["seed", "converged", *keys]
    table = directions[[*nets, "n", *columns]]
    table = table.assign(
        bin=np.floor(A_DECADE * np.log10(table["n"].astype(float)) + 1e-9),
        n=np.log(table["n"].astype(float)),
    )
    means = table.groupby([*nets, "bin"])[["n", *columns]].mean().reset_index()
    # Rounded, so that the bins of different nets are the same to the last digit.
    return means.assign(n=np.exp(means["n"]).round(6)).drop(columns="bin")


def picked(directions: pd.DataFrame) -> pd.DataFrame:
    """The rows at ranks 1, 2, 3, 4, 5, 6, 8, 10, 13, ...: ten a decade, the same in each net."""
    most = directions["n"].max() if len(directions) else 1
    steps = np.arange(0, np.floor(A_DECADE * np.log10(most) + 1e-9) + 1)
    ranks = np.unique(np.round(10 ** (steps / A_DECADE)))
    return directions[directions["n"].isin(ranks)]
