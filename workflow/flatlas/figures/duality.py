"""Figures of the activity-weight duality paper (Feng, Zhang & Tu). A panel a function.

What is drawn is first gathered in one table, then drawn from it; that table is the figure's CSV.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy import stats

from flatlas.figures.material import Material
from flatlas.figures.style import BLACK, BLUE, GREEN, RED, Drawing, note, panels, shades

SYMBOLS = {"optimizer.lr": r"$\alpha$", "batch": "$B$"}
SPECTRA = {"sigma_g": r"$\sigma_{g,n}$", "S_w": r"$S_{w,n}$"}
GAPS = {
    "dual_gap": (r"$\Delta L$", BLACK),
    "gap_sharp": (r"$\Delta L_s$", BLUE),
    "gap_flat": (r"$\Delta L_f$", GREEN),
}
NET = ["pairwise_gap", "dual_gap", "mu_gap", "test_error"]


def fig3(material: Material) -> Drawing:
    """Sharpness, size and gap against learning rate (A-C) and batch size (D-F)."""
    figure, axes = panels(2, 3)
    points = [
        *_sweep_panels(material, axes[:3], "ABC", "alpha", "optimizer.lr"),
        *_sweep_panels(material, axes[3:], "DEF", "batch", "batch"),
    ]
    legend = "Lines and dots: means; bands and bars: one s.d. Red dots: the mean $n_s$. "
    note(figure, legend + _small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))


def s4(material: Material) -> Drawing:
    """The gap by Eq. 11 against the direct gap, and the test error against the gap."""
    figure, axes = panels(1, 2, width=3.4, height=3.1)
    nets = _with_outcomes(material, "hidden_summary", NET).drop_duplicates(["run", "seed"])
    points = nets[["run", "seed", "converged", *NET]]
    _accuracy_panel(axes[0], points)
    _error_panel(axes[1], points)
    note(figure, "One dot a trained net. " + _small_print(material))
    return Drawing(figure, points)


def _sweep_panels(
    material: Material, axes: list[Axes], letters: str, sweep: str, key: str
) -> Iterator[pd.DataFrame]:
    """One row of figure 3 or 4: sigma_g, S_w and the gaps over one sweep."""
    measured = ["n", "sigma_g", "sigma_w"]
    directions = _of_sweep(_with_outcomes(material, "hidden_directions", measured), sweep)
    directions["S_w"] = directions.groupby(["run", "seed"])["sigma_w"].cumsum()
    measured = ["n_sharp", *GAPS]
    summary = _of_sweep(_with_outcomes(material, "hidden_summary", measured), sweep)
    spectra = _over_seeds(directions, [key, "n"], list(SPECTRA))
    split = _over_seeds(summary, [key], ["n_sharp"])
    gaps = _over_seeds(summary, [key], list(GAPS))
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
        style = "-" if _all_converged(line) else "--"
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


def _accuracy_panel(ax: Axes, points: pd.DataFrame) -> None:
    """Statistics are those of solutions; nets that met no stopping rule are drawn all the same."""
    direct, dual = points["pairwise_gap"], points["dual_gap"]
    ends = [0.95 * min(direct.min(), dual.min()), 1.05 * max(direct.max(), dual.max())]
    ax.plot(ends, ends, color="0.6", lw=1, zorder=0)
    _dots(ax, direct, dual, points["converged"])
    ax.set(xlabel=r"$\Delta\tilde L$, measured", ylabel=r"$\sum_n c_n\sigma_{g,n}\sigma_{w,n}$")
    if points["converged"].any():
        deviation = np.median(np.abs(dual / direct - 1)[points["converged"]])
        ax.set_title(f"median deviation {deviation:.1%}", loc="right")


def _error_panel(ax: Axes, points: pd.DataFrame) -> None:
    gap, error = points["dual_gap"], 100 * points["test_error"]
    _dots(ax, gap, error, points["converged"])
    ax.set(xlabel=r"$\Delta L$", ylabel="test error (%)")
    solutions = points[points["converged"]]
    if len(solutions) > 2:
        pair = solutions["dual_gap"], solutions["test_error"]
        r, rho = stats.pearsonr(*pair).statistic, stats.spearmanr(*pair).statistic
        ax.set_title(f"Pearson {r:.2f}, Spearman {rho:.2f}", loc="right")


def _dots(ax: Axes, x: pd.Series, y: pd.Series, converged: pd.Series) -> None:
    """One dot a net, hollow where the training met no stopping rule."""
    for chosen, face in ((converged, BLUE), (~converged, "white")):
        ax.plot(x[chosen], y[chosen], "o", ms=4, color=BLUE, mfc=face, alpha=0.7)


def _with_outcomes(material: Material, table: str, columns: list[str]) -> pd.DataFrame:
    """A table of measurements, each row knowing whether its training met its stopping rule.

    Where every realization diverged, the table has no `columns` of its own and gets them, empty.
    """
    measured = material.tables[table]
    empty = {name: pd.Series(dtype=float) for name in columns if name not in measured}
    outcomes = material.tables["outcomes"].drop_duplicates(["run", "seed"])
    told = outcomes[["run", "seed", "converged"]]
    return measured.assign(**empty).merge(told, on=["run", "seed"], validate="many_to_one")


def _of_sweep(table: pd.DataFrame, sweep: str) -> pd.DataFrame:
    return table[table["sweep"] == sweep].copy()


def _over_seeds(table: pd.DataFrame, keys: list[str], columns: list[str]) -> pd.DataFrame:
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


def _all_converged(points: pd.DataFrame) -> bool:
    return bool((points["converged"] == points["realizations"]).all())


def _small_print(material: Material) -> str:
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
