"""Figures of the activity-weight duality paper (Feng, Zhang & Tu). A panel a function."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy import stats

from flatlas.figures.material import Material
from flatlas.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    RED,
    Drawing,
    note,
    panels,
    shades,
)

SYMBOLS = {"optimizer.lr": r"$\alpha$", "batch": "$B$"}
GAPS = {
    "dual_gap": (r"$\Delta L$", BLACK),
    "gap_sharp": (r"$\Delta L_s$", BLUE),
    "gap_flat": (r"$\Delta L_f$", GREEN),
}


def fig3(material: Material) -> Drawing:
    """Sharpness, size and gap against learning rate (A-C) and batch size (D-F)."""
    figure, axes = panels(2, 3)
    points = [
        *_sweep_panels(material, axes[:3], "ABC", "alpha", "optimizer.lr"),
        *_sweep_panels(material, axes[3:], "DEF", "batch", "batch"),
    ]
    bands = "Lines and dots: means; bands and bars: one s.d. Red dots: the median $n_s$. "
    note(figure, bands + _small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))


def s4(material: Material) -> Drawing:
    """The gap by Eq. 11 against the direct gap, and the test error against the gap."""
    summary = material.tables["hidden_summary"].drop_duplicates(["run", "seed"])
    figure, axes = panels(1, 2, width=3.4, height=3.1)
    _accuracy_panel(axes[0], summary)
    _error_panel(axes[1], summary)
    note(figure, "One dot a trained net. " + _small_print(material))
    drawn = ["run", "seed", "pairwise_gap", "dual_gap", "mu_gap", "test_error"]
    return Drawing(figure, summary[drawn])


def _sweep_panels(
    material: Material, axes: list[Axes], letters: str, sweep: str, key: str
) -> Iterator[pd.DataFrame]:
    """One row of figure 3 or 4: sigma_g, S_w and the gaps over one sweep."""
    directions = material.sweep("hidden_directions", sweep)
    directions["S_w"] = directions.groupby(["run", "seed"])["sigma_w"].cumsum()
    spectra = _over_seeds(directions, [key, "n"], ["sigma_g", "S_w"])
    summary = material.sweep("hidden_summary", sweep)
    split = round(summary["n_sharp"].median())
    for ax, letter, column, label in zip(
        axes, letters, ("sigma_g", "S_w"), (r"$\sigma_{g,n}$", r"$S_{w,n}$"), strict=False
    ):
        drawn = spectra[spectra["quantity"] == column]
        _spectrum_panel(ax, drawn, key, split)
        ax.set(xlabel="$n$", ylabel=label)
        yield drawn.assign(panel=letter)
    axes[0].set_yscale("log")
    axes[0].set_ylim(bottom=_floor(spectra[spectra["quantity"] == "sigma_g"]))
    axes[0].legend(title=SYMBOLS[key], ncols=2, loc="lower left")
    gaps = _over_seeds(summary, [key], list(GAPS))
    _gap_panel(axes[2], gaps, key)
    yield gaps.assign(panel=letters[2])


def _spectrum_panel(ax: Axes, drawn: pd.DataFrame, key: str, split: int) -> None:
    values = sorted(drawn[key].unique())
    for value, colour in zip(values, shades(len(values)), strict=True):
        line = drawn[drawn[key] == value]
        ax.plot(line["n"], line["mean"], color=colour, label=f"{value:g}")
        low, high = line["mean"] - line["sd"], line["mean"] + line["sd"]
        # On a logarithmic axis a band that reaches below zero ends at a tenth of its line.
        ax.fill_between(
            line["n"], low.clip(line["mean"] / 10), high, color=colour, alpha=0.15, lw=0
        )
        sharp = line[line["n"] == split]
        ax.plot(sharp["n"], sharp["mean"], "o", color=RED, ms=3.5, zorder=3)
    ax.set_xscale("log")


def _floor(spectra: pd.DataFrame) -> float:
    """Where the axis of sigma_g ends: below the 90 % of directions that are not almost dead."""
    shown = spectra[spectra["n"] <= 0.9 * spectra["n"].max()]
    return float(shown["mean"].min() / 3)


def _gap_panel(ax: Axes, gaps: pd.DataFrame, key: str) -> None:
    for quantity, (label, colour) in GAPS.items():
        line = gaps[gaps["quantity"] == quantity].sort_values(key)
        ax.errorbar(line[key], line["mean"], line["sd"], fmt="o-", color=colour, label=label)
    ax.set_xscale("log")
    ticks = sorted(gaps[key].unique())
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_ylim(0, 1.25 * (gaps["mean"] + gaps["sd"].fillna(0)).max())
    ax.set(xlabel=SYMBOLS[key], ylabel="generalization gap")
    ax.legend(ncols=3, loc="upper center")


def _accuracy_panel(ax: Axes, summary: pd.DataFrame) -> None:
    direct, dual = summary["pairwise_gap"], summary["dual_gap"]
    ends = [0.95 * min(direct.min(), dual.min()), 1.05 * max(direct.max(), dual.max())]
    ax.plot(ends, ends, color="0.6", lw=1, zorder=0)
    ax.scatter(direct, dual, s=14, color=BLUE, alpha=0.7, lw=0)
    ax.set(xlabel=r"$\Delta\tilde L$, measured", ylabel=r"$\sum_n c_n\sigma_{g,n}\sigma_{w,n}$")
    ax.annotate(
        f"median deviation {np.median(np.abs(dual / direct - 1)):.1%}",
        (0.04, 0.93), xycoords="axes fraction",
    )  # fmt: skip


def _error_panel(ax: Axes, summary: pd.DataFrame) -> None:
    gap, error = summary["dual_gap"], 100 * summary["test_error"]
    ax.scatter(gap, error, s=14, color=BLUE, alpha=0.7, lw=0)
    ax.set(xlabel=r"$\Delta L$", ylabel="test error (%)")
    r, rho = stats.pearsonr(gap, error).statistic, stats.spearmanr(gap, error).statistic
    ax.annotate(f"Pearson {r:.2f}, Spearman {rho:.2f}", (0.04, 0.93), xycoords="axes fraction")


def _over_seeds(table: pd.DataFrame, keys: list[str], columns: list[str]) -> pd.DataFrame:
    """Mean and standard deviation over realizations, in long form."""
    long = table.melt(id_vars=keys, value_vars=columns, var_name="quantity")
    grouped = long.groupby([*keys, "quantity"], sort=True)["value"]
    return grouped.agg(mean="mean", sd="std", realizations="size").reset_index()


def _small_print(material: Material) -> str:
    """How many realizations there are, and how many never met their stopping rule."""
    runs = material.tables["outcomes"].drop_duplicates(["run", "seed"])
    text = f"{runs.groupby('run').size().max()} realizations a run."
    failed = material.unconverged()
    if len(failed):
        text += f" {failed['failed'].sum()} of {len(runs)} trainings met no stopping rule."
    return text
