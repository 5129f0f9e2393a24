"""The row of panels that most figures of the study are made of: a sweep's spectra and gaps.

What is drawn is first gathered in one table, then drawn from it; that table is the figure's CSV.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.figures.style import BLACK, BLUE, GREEN, RED, shades
from flatlas.store.material import Material

SYMBOLS = {"optimizer.lr": r"$\alpha$", "batch": "$B$"}
SPECTRA = {"sigma_g": r"$\sigma_{g,n}$", "S_w": r"$S_{w,n}$"}
GAPS = {
    "dual_gap": (r"$\Delta L$", BLACK),
    "gap_sharp": (r"$\Delta L_s$", BLUE),
    "gap_flat": (r"$\Delta L_f$", GREEN),
}
SWEEP_LEGEND = "Lines and dots: means; bands and bars: one s.d. Red dots: the mean $n_s$. "


def sweep_row(
    material: Material,
    axes: list[Axes],
    letters: str,
    sweep: str,
    key: str,
    layer: str = "hidden",
) -> Iterator[pd.DataFrame]:
    """sigma_g, S_w and the gaps over one sweep; `layer` is the study's name of the measure."""
    directions = material.measured(f"{layer}_directions", ["n", *SPECTRA], sweep)
    summary = material.measured(f"{layer}_summary", ["n_sharp", *GAPS], sweep)
    spectra = over_seeds(directions, [key, "n"], list(SPECTRA))
    split = over_seeds(summary, [key], ["n_sharp"])
    gaps = over_seeds(summary, [key], list(GAPS))
    for ax, letter, (column, label) in zip(axes, letters, SPECTRA.items(), strict=False):
        drawn = spectra[spectra["quantity"] == column]
        _spectrum_panel(ax, drawn, split, key)
        ax.set(xlabel="$n$", ylabel=label)
        yield pd.concat([drawn, split]).assign(panel=letter)
    if len(spectra):
        axes[0].set_yscale("log")
        axes[0].set_ylim(bottom=_floor(spectra[spectra["quantity"] == "sigma_g"]))
        axes[0].legend(title=SYMBOLS[key], ncols=2, loc="lower left")
    _gap_panel(axes[2], gaps, key)
    yield gaps.assign(panel=letters[2])


def _spectrum_panel(ax: Axes, drawn: pd.DataFrame, split: pd.DataFrame, key: str) -> None:
    values = sorted(drawn[key].unique())
    for value, colour in zip(values, shades(len(values)), strict=True):
        line = drawn[drawn[key] == value]
        style = "-" if all_converged(line) else "--"
        ax.plot(line["n"], line["mean"], style, color=colour, label=f"{value:g}")
        ax.fill_between(line["n"], line["low"], line["high"], color=colour, alpha=0.15, lw=0)
        n_s = round(split[split[key] == value]["mean"].item())
        ax.plot(n_s, line[line["n"] == n_s]["mean"], "o", color=RED, ms=3.5, zorder=3)
    ax.set_xscale("log")


def _floor(spectra: pd.DataFrame) -> float:
    """Where the axis of sigma_g ends: below the 90 % of directions that are not almost dead."""
    shown = spectra[spectra["n"] <= 0.9 * spectra["n"].max()]
    return float(shown["mean"].min() / 3)


def _gap_panel(ax: Axes, gaps: pd.DataFrame, key: str) -> None:
    for quantity, (label, colour) in GAPS.items():
        line = gaps[gaps["quantity"] == quantity].sort_values(key)
        ax.errorbar(line[key], line["mean"], line["sd"], fmt="-", color=colour)
        for _, point in line.iterrows():
            fill = colour if point["converged"] == point["realizations"] else "white"
            ax.plot(point[key], point["mean"], "o", color=colour, mfc=fill)
        ax.plot([], [], "o-", color=colour, label=label)
    ax.set_xscale("log")
    ticks = sorted(gaps[key].unique())
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    spread = gaps["sd"].fillna(0)
    lowest, highest = (gaps["mean"] - spread).min(), (gaps["mean"] + spread).max()
    if len(gaps):
        ax.set_ylim(min(0.0, 1.1 * lowest), max(0.0, 1.25 * highest))
    ax.set(xlabel=SYMBOLS[key], ylabel="generalization gap")
    ax.legend(ncols=3, loc="upper center")


def over_seeds(table: pd.DataFrame, keys: list[str], columns: list[str]) -> pd.DataFrame:
    """Mean, standard deviation and band over realizations, and how many of them converged.

    The band of a spectrum ends at a tenth of the mean: a logarithmic axis could not show what is
    below.
    """
    long = table.melt([*keys, "converged"], columns, var_name="quantity")
    grouped = long.groupby([*keys, "quantity"], sort=True)
    over = grouped["value"].agg(mean="mean", sd="std", realizations="size")
    over["converged"] = grouped["converged"].sum()
    table = over.reset_index()
    ends = (table["mean"] / 10).where(table["quantity"].isin(SPECTRA), -np.inf)
    table["low"] = (table["mean"] - table["sd"]).clip(lower=ends)
    table["high"] = table["mean"] + table["sd"]
    return table


def all_converged(points: pd.DataFrame) -> bool:
    return bool((points["converged"] == points["realizations"]).all())


def small_print(material: Material) -> str:
    """How many realizations there are, and how many never met their stopping rule, and why."""
    runs = material.tables["outcomes"].drop_duplicates(["run", "seed"])
    text = f"{runs.groupby('run').size().max()} realizations a run."
    failed = runs[~runs["converged"]]
    if len(failed):
        reasons = failed["reason"].value_counts().items()
        told = ", ".join(f"{count} {reason}" for reason, count in reasons)
        text += (
            f" Of {len(runs)} trainings {len(failed)} met no stopping rule ({told});"
            " hollow or dashed: with such. Diverged ones are left out."
        )
    return text
