"""Figure S10: learning rate and batch size together, against their ratio."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.studies.duality.dots import draw_means
from flatlas.studies.duality.gaps import GAPS, finish_gaps
from flatlas.studies.duality.realizations import LEGEND, above_zero, all_converged, over_seeds
from flatlas.studies.duality.spectra import floor
from flatlas.studies.duality.swept import read
from flatlas.plotting.style import Drawing, note, panels, plain_ticks, shades
from flatlas.plotting.trainings import small_print

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
