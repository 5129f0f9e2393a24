"""Panels of a quantity against the rank n of a direction, with a line for each swept value."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.plotting.style import RED, shades, written
from flatlas.studies.duality.realizations import above_zero, draw_line, over_seeds

LABELS = {
    "sigma_g": r"$\sigma_{g,n}$",
    "sigma_w": r"$\sigma_{w,n}$",
    "S_w": r"$S_{w,n}$",
    "correlation": "$c_n$",
    "gap": r"$\Delta L_n$",
}
LOGARITHMIC = {"sigma_g", "sigma_w"}
# Steep or cumulative quantities, drawn at every rank; others are averaged over bins of ranks.
SMOOTH = {"sigma_g", "S_w"}
# A logarithmic axis shows no more than four decades.
LOWEST = 1e-4
# Bins of ranks, and picked ranks, in a decade.
A_DECADE = 10


def spectrum(directions: pd.DataFrame, key: str, column: str) -> pd.DataFrame:
    """The points of one quantity: mean and band over realizations for each value and rank."""
    if column not in SMOOTH:
        directions = binned(directions, [key], [column])
    over = over_seeds(directions, [key, "n"], [column])
    return above_zero(over) if column in LOGARITHMIC else over


def binned(directions: pd.DataFrame, keys: list[str], columns: list[str]) -> pd.DataFrame:
    """Means over bins of ranks n for each net, with the geometric mean of a bin's ranks as n.

    There are ten bins a decade, of equal width in log n: 1, 2, 3, 4-5, 6, 7, 8-9, 10-12, ....
    """
    nets = ["seed", "converged", *keys]
    table = directions[[*nets, "n", *columns]]
    table = table.assign(
        bin=np.floor(A_DECADE * np.log10(table["n"].astype(float)) + 1e-9),
        n=np.log(table["n"].astype(float)),
    )
    means = table.groupby([*nets, "bin"])[["n", *columns]].mean().reset_index()
    # Rounded, so that the bins of different nets are equal to the last digit.
    return means.assign(n=np.exp(means["n"]).round(6)).drop(columns="bin")


def picked(directions: pd.DataFrame) -> pd.DataFrame:
    """The rows at ranks 1, 2, 3, 4, 5, 6, 8, 10, 13, ...: at most ten a decade, in each net."""
    most = directions["n"].max() if len(directions) else 1
    steps = np.arange(0, np.floor(A_DECADE * np.log10(most) + 1e-9) + 1)
    ranks = np.unique(np.round(10 ** (steps / A_DECADE)))
    return directions[directions["n"].isin(ranks)]


def draw_spectrum(
    ax: Axes, drawn: pd.DataFrame, key: str, colours: Mapping[Any, Any] | None = None
) -> None:
    """A line and a band for each value of `key`."""
    values = sorted(drawn[key].unique())
    colours = colours or dict(zip(values, shades(len(values)), strict=True))
    for value in values:
        draw_line(ax, drawn[drawn[key] == value], colours[value], written(value))
    column = drawn["quantity"].iloc[0] if len(drawn) else ""
    ax.set_xscale("log")
    ax.set(xlabel="$n$", ylabel=LABELS.get(column, ""))
    if column in LOGARITHMIC:
        ax.set_yscale("log")
        if (drawn["mean"] > 0).any():
            ax.set_ylim(bottom=floor(drawn))


def floor(drawn: pd.DataFrame) -> float:
    """The lower end of a logarithmic axis."""
    return float(max(leading(drawn)["mean"].min() / 3, LOWEST * drawn["mean"].max()))


def leading(drawn: pd.DataFrame) -> pd.DataFrame:
    """The first 90 % of the directions, to which axes fit: the last ones are almost dead."""
    return drawn[drawn["n"] <= 0.9 * drawn["n"].max()]


def mark_split(ax: Axes, drawn: pd.DataFrame, split: pd.DataFrame, key: str) -> None:
    """A vermilion dot on each line at the mean n_s, where the sharp directions end."""
    for value in sorted(drawn[key].unique()):
        line = drawn[drawn[key] == value]
        n_s = round(split[split[key] == value]["mean"].item())
        ax.plot(n_s, line[line["n"] == n_s]["mean"], "o", color=RED, ms=3.5, zorder=3)
