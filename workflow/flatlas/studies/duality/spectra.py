"""Panels of a quantity against the rank n of a direction, a line a value.

Claims: Spectra over the directions n, on the logarithmic scales on which the paper draws them.

Arrays are (realizations, values, directions), by rank. Directions beyond those that hold 99 % of
ΔL are left out everywhere: rarely active neurons let σ_g fall by decades there, or to round-off.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.plotting.style import RED, shades
from flatlas.statistics.means import mean
from flatlas.statistics.round_off import ROUND_OFF
from flatlas.studies.duality.ranks import binned
from flatlas.studies.duality.realizations import above_zero, all_converged, over_seeds
from flatlas.studies.duality.swept import read

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
# The share of ΔL in the directions that count.
HELD = 0.99
# n ≤ 10: the sharp directions of the paper (n_s = 10), the same for every net.
SHARPEST = 10


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


def counted(gap: np.ndarray) -> int:
    """How many directions hold 99 % of ΔL, at that value of a sweep where it takes the most."""
    return int(counted_each(mean(gap)).sum(-1).max(initial=1))


def counted_each(gap: np.ndarray) -> np.ndarray:
    """Which directions, by rank, hold 99 % of each net's ΔL: of Σ|ΔL_n|, as a few are negative."""
    parts = np.abs(np.nan_to_num(gap))
    held = np.cumsum(parts, axis=-1)
    return (held - parts < HELD * held[..., -1:]) & np.isfinite(gap)


def live(measured: np.ndarray) -> np.ndarray:
    """What is positive beyond round-off; NaN elsewhere."""
    if not measured.size:
        return measured
    known = np.where(np.isfinite(measured), measured, 0.0)
    largest = known.max(-1, keepdims=True)
    return np.where(known > ROUND_OFF * largest, measured, np.nan)


def logs(measured: np.ndarray) -> np.ndarray:
    """The logarithm where there is one; NaN of what is dead."""
    return np.asarray(np.log(live(measured)))


def stretches(last: int) -> list[tuple[int, int]]:
    """Half-decades of rank, as (first, last): 1-3, 4-10, and equal steps of log n from there on.

    Each counts alike, as it takes the same room on the paper's axis: of hundreds of directions,
    the ten sharpest would else not be seen.
    """
    ends = [3, SHARPEST]
    if last > SHARPEST:
        steps = max(1, round(2 * np.log10(last / SHARPEST)))
        ends += [int(end) for end in np.rint(np.geomspace(SHARPEST, last, steps + 1))[1:]]
    return [(before + 1, end) for before, end in zip([0, *ends], ends, strict=False)]


def by_stretch(spectrum: np.ndarray, last: int) -> np.ndarray:
    """The mean in each half-decade of rank, up to the last direction that counts."""
    parts = [mean(spectrum[..., first - 1 : end], -1) for first, end in stretches(last)]
    return np.stack(parts, axis=-1)


def sharpest(spectrum: np.ndarray) -> np.ndarray:
    """The mean over n ≤ 10."""
    return mean(spectrum[..., :SHARPEST], -1)


def flat(spectrum: np.ndarray, last: int) -> np.ndarray:
    """The half-decades beyond n = 10, up to the last direction that counts."""
    return by_stretch(spectrum, last)[..., 2:]


def moved(logs: np.ndarray) -> np.ndarray:
    """The geometric mean factor by which σ_g moves from the first value to the last, less 1.

    Up or down: it is that of |log ratio|.

    The logarithms are (realizations, ..., values, half-decades), averaged over realizations first.
    """
    means = mean(logs)
    return np.expm1(mean(np.abs(means[..., -1, :] - means[..., 0, :]), -1))
