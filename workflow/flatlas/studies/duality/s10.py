"""Figure S10: learning rate and batch size together, against their ratio.

Claims: Figure S10: only α/B counts.
"""

from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, FALLING
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels, plain_ticks, shades
from flatlas.plotting.trainings import small_print
from flatlas.statistics.means import mean
from flatlas.studies.duality.dots import draw_means
from flatlas.studies.duality.gaps import GAPS, finish_gaps
from flatlas.studies.duality.realizations import LEGEND, above_zero, all_converged, over_seeds
from flatlas.studies.duality.spectra import floor
from flatlas.studies.duality.swept import read
from flatlas.studies.duality.trends import trend

RATIO, KEYS = "ratio", ["optimizer.lr", "batch"]
SPECTRA = {"A": ("sigma_g", r"$\sigma_{g,n}$"), "B": ("S_w", r"$S_{w,n}$")}
MARKERS = "osD^vPX"


def draw(material: Material) -> Drawing:
    """A line a pair of values, in the colour of their ratio; in C its marker tells B."""
    figure, axes = panels(1, 3, width=3.3, height=3.0)
    columns = [column for column, _ in SPECTRA.values()]
    directions = _with_ratio(material.measured("hidden_directions", ["n", *columns], "alpha_batch"))
    nets = _with_ratio(material.measured("hidden_summary", list(GAPS), "alpha_batch"))
    points: list[pd.DataFrame] = []
    for ax, (letter, (column, label)) in zip(axes, SPECTRA.items(), strict=False):
        drawn = over_seeds(directions, [RATIO, *KEYS, "n"], [column])
        drawn = above_zero(drawn) if column == "sigma_g" else drawn
        _spectra_panel(ax, drawn)
        ax.set(xscale="log", xlabel="$n$", ylabel=label)
        points.append(drawn.assign(panel=letter))
    if len(directions):
        axes[0].set_yscale("log")
        axes[0].set_ylim(bottom=floor(points[0]))
        axes[1].legend(title=r"$\alpha/B$", loc="upper left", ncols=1, fontsize=7)
    gaps = over_seeds(nets, [RATIO, *KEYS], list(GAPS))
    _gaps_panel(axes[2], gaps)
    note(figure, LEGEND + small_print(material))
    return Drawing(figure, pd.concat([*points, gaps.assign(panel="C")], ignore_index=True))


def _with_ratio(table: pd.DataFrame) -> pd.DataFrame:
    """Ratios of equal value equal to the last digit, too."""
    ratio = table["optimizer.lr"] / table["batch"]
    return table.assign(**{RATIO: [float(f"{value:.9g}") for value in ratio]})


def _spectra_panel(ax: Axes, drawn: pd.DataFrame) -> None:
    ratios = sorted(drawn[RATIO].unique())
    colours = dict(zip(ratios, shades(len(ratios)), strict=True))
    for ratio, colour in colours.items():
        ax.plot([], [], color=colour, label=read(ratio))
    for (ratio, *_), line in drawn.groupby([RATIO, *KEYS]):
        style = "-" if all_converged(line) else "--"
        ax.plot(line["n"], line["mean"], style, color=colours[ratio])
        ax.fill_between(line["n"], line["low"], line["high"], color=colours[ratio], alpha=0.1, lw=0)


def _gaps_panel(ax: Axes, gaps: pd.DataFrame) -> None:
    batches = sorted(gaps["batch"].unique())
    for quantity, (_, colour) in GAPS.items():
        for batch, marker in zip(batches, MARKERS, strict=False):
            dots = gaps[(gaps["quantity"] == quantity) & (gaps["batch"] == batch)]
            draw_means(ax, dots[RATIO], dots, colour, marker)
    ax.set(xscale="log", xlabel=r"$\alpha/B$")
    plain_ticks(ax.xaxis)
    ax.tick_params(axis="x", labelsize=7)
    _end_at_ticks(ax, gaps[RATIO])
    finish_gaps(ax, gaps)
    first = ax.get_legend()
    if first is not None and batches:
        handles = [
            ax.plot([], [], marker, color="0.4", label=f"$B$ = {read(batch)}")[0]
            for batch, marker in zip(batches, MARKERS, strict=False)
        ]
        ax.add_artist(first)
        ax.legend(
            handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.92), ncols=len(batches),
            handletextpad=0, columnspacing=0.8,
        )  # fmt: skip


def _end_at_ticks(ax: Axes, ratios: pd.Series) -> None:
    """So that the outermost dots, too, stand between ticks that have a number."""
    if len(ratios):
        ticks = ax.xaxis.get_major_locator().tick_values(ratios.min(), ratios.max())
        below, above = ticks[ticks <= ratios.min()].max(), ticks[ticks >= ratios.max()].min()
        ax.set_xlim(0.9 * below, 1.1 * above)


def claims(material: Material) -> list[Claim]:
    """Panel C: one curve, on which points of equal α/B lie at one height."""
    runs = _runs(material)
    ratios = {str(run): row["optimizer.lr"] / row["batch"] for run, row in runs.iterrows()}
    names = {
        str(run): f"α = {row['optimizer.lr']:g}, B = {row['batch']:g}"
        for run, row in runs.iterrows()
    }
    ascending = tuple(sorted(ratios, key=lambda run: ratios[run]))
    sweep = Sweep(material, "alpha_batch", "run", ascending, names)
    at = [ratios[run] for run in sweep.values]
    pairs = [(a, b) for a, b in combinations(range(len(at)), 2) if np.isclose(at[a], at[b])]
    gap = sweep.read("hidden_summary", "dual_gap")
    return [
        sweep.claim(
            "trend",
            "ΔL falls as α/B rises, whichever of them changes",
            "rank correlation of mean ΔL with α/B",
            FALLING,
            trend(at),
            gap,
        ),
        sweep.claim(
            "equal",
            "ΔL is the same at equal α/B",
            "relative difference of mean ΔL between two points of equal α/B, up or down; mean over"
            f" all such pairs ({len(pairs)})",
            BARELY_OFF,
            lambda twins: mean(np.abs(mean(twins)[..., 1] / mean(twins)[..., 0] - 1), -1),
            gap[:, pairs] if pairs else gap[:, :0],
        ),
    ]


def _runs(material: Material) -> pd.DataFrame:
    """α and B of each run of the sweep."""
    outcomes = material.tables["outcomes"]
    runs = outcomes[outcomes["sweep"] == "alpha_batch"].drop_duplicates("run").set_index("run")
    return runs.reindex(columns=["optimizer.lr", "batch"]).dropna()
