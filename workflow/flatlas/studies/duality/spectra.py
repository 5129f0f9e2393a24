"""Panels of a quantity against the rank n of a direction, a line a value."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from flatlas.studies.duality.ranks import binned
from flatlas.studies.duality.realizations import above_zero, all_converged, over_seeds
from flatlas.studies.duality.swept import read
from flatlas.plotting.style import RED, shades

LABELS = {
    "sigma_g": r"$\sigma_{g,n}$",
    "sigma_w": r"$\sigma_{w,n}$",
    "S_w": r"$S_{w,n}$",
    "correlation": "$c_n$",
    "gap": r"$\Delta L_n$",
}
LOGARITHMIC = {"sigma_g", "sigma_w"}
# Cumulative or steep, these are smooth as they are; the others are averaged over bins of ranks.
SMOOTH = {"sigma_g", "S_w"}
LOWEST = 1e-4


def spectrum(directions: pd.DataFrame, key: str, column: str) -> pd.DataFrame:
    """The points of one quantity: mean and band over realizations for each value and rank."""
    if column not in SMOOTH:
        directions = binned(directions, [key], [column])
    over = over_seeds(directions, [key, "n"], [column])
    return above_zero(over) if column in LOGARITHMIC else over


def draw_spectrum(
    ax: Axes, drawn: pd.DataFrame, key: str, colours: Mapping[Any, Any] | None = None
) -> None:
    """A line and a band for each value of `key`, dashed where a training met no stopping rule."""
    values = sorted(drawn[key].unique())
    colours = colours or dict(zip(values, shades(len(values)), strict=True))
    for value in values:
        line = drawn[drawn[key] == value]
        style = "-" if all_converged(line) else "--"
        ax.plot(line["n"], line["mean"], style, color=colours[value], label=read(value))
        ax.fill_between(
            line["n"], line["low"], line["high"], color=colours[value], alpha=0.15, lw=0
        )
    column = drawn["quantity"].iloc[0] if len(drawn) else ""
    ax.set_xscale("log")
    ax.set(xlabel="$n$", ylabel=LABELS.get(column, ""))
    if column in LOGARITHMIC:
        ax.set_yscale("log")
        if (drawn["mean"] > 0).any():
            ax.set_ylim(bottom=floor(drawn))


def floor(drawn: pd.DataFrame) -> float:
    """Where a logarithmic axis ends: below the 90 % of directions that are not almost dead.

    Some nets have more dead ones; what is four decades below the largest is not shown.
    """
    shown = drawn[drawn["n"] <= 0.9 * drawn["n"].max()]
    return float(max(shown["mean"].min() / 3, LOWEST * drawn["mean"].max()))


def mark_split(ax: Axes, drawn: pd.DataFrame, split: pd.DataFrame, key: str) -> None:
    """A vermilion dot on each line at the mean n_s, where the sharp directions end."""
    for value in sorted(drawn[key].unique()):
        line = drawn[drawn[key] == value]
        n_s = round(split[split[key] == value]["mean"].item())
        ax.plot(n_s, line[line["n"] == n_s]["mean"], "o", color=RED, ms=3.5, zorder=3)
