"""Figure S10: learning rate and batch size count only by their ratio α/B."""

from functools import partial
from itertools import combinations, cycle

import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import BARELY_OFF, FALLING
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material, with_settings
from flatlas.plotting.style import MARKERS, Drawing, panels, plain_ticks, shades, written
from flatlas.statistics.joint import Joint
from flatlas.statistics.means import mean
from flatlas.statistics.trends import change, trend
from flatlas.studies.duality import realizations
from flatlas.studies.duality.realizations import LEGEND, finish, over_seeds
from flatlas.studies.duality.spectra import LABELS, LOGARITHMIC, floor
from flatlas.studies.duality.sweeps import GAPS, SPECTRA, finish_gaps

SWEEP = "alpha_batch"
RATIO, KEYS = "ratio", ["optimizer.lr", "batch"]


def draw(material: Material) -> Drawing:
    """A line for each pair of values, in the colour of their ratio; in C, markers show B."""
    figure, axes = panels(1, 3, width=3.3, height=3.0)
    directions = _with_ratio(material.measured("hidden_directions", SWEEP))
    nets = _with_ratio(material.measured("hidden_summary", SWEEP))
    points: list[pd.DataFrame] = []
    for ax, letter, column in zip(axes, "AB", SPECTRA, strict=False):
        drawn = over_seeds(directions, [RATIO, *KEYS, "n"], [column])
        drawn = realizations.above_zero(drawn) if column in LOGARITHMIC else drawn
        _spectra_panel(ax, drawn)
        ax.set(xscale="log", xlabel="$n$", ylabel=LABELS[column])
        points.append(drawn.assign(panel=letter))
    if len(points[0]):
        axes[0].set_yscale("log")
        axes[0].set_ylim(bottom=floor(points[0]))
        axes[1].legend(title=r"$\alpha/B$", loc="upper left", ncols=1, fontsize=7)
    gaps = over_seeds(nets, [RATIO, *KEYS], list(GAPS))
    _gaps_panel(axes[2], gaps)
    return finish(figure, [*points, gaps.assign(panel="C")], material, LEGEND)


def _with_ratio(table: pd.DataFrame) -> pd.DataFrame:
    """The table with α/B, rounded: equal ratios are equal to the last digit."""
    table = with_settings(table, KEYS)
    ratio = table["optimizer.lr"] / table["batch"]
    return table.assign(**{RATIO: [float(f"{value:.9g}") for value in ratio]})


def _spectra_panel(ax: Axes, drawn: pd.DataFrame) -> None:
    ratios = sorted(drawn[RATIO].unique())
    colours = dict(zip(ratios, shades(len(ratios)), strict=True))
    for ratio, colour in colours.items():
        ax.plot([], [], color=colour, label=written(ratio))
    for (ratio, *_), line in drawn.groupby([RATIO, *KEYS]):
        realizations.draw_line(ax, line, colours[ratio], alpha=0.1)


def _gaps_panel(ax: Axes, gaps: pd.DataFrame) -> None:
    batches = sorted(gaps["batch"].unique())
    for quantity, (_, colour) in GAPS.items():
        for batch, marker in zip(batches, cycle(MARKERS), strict=False):
            dots = gaps[(gaps["quantity"] == quantity) & (gaps["batch"] == batch)]
            realizations.draw_means(ax, dots, RATIO, colour, marker, joined=False)
    ax.set(xscale="log", xlabel=r"$\alpha/B$")
    plain_ticks(ax.xaxis)
    ax.tick_params(axis="x", labelsize=7)
    _end_at_ticks(ax, gaps[RATIO])
    finish_gaps(ax, gaps)
    first = ax.get_legend()
    if first is not None and batches:
        handles = [
            ax.plot([], [], marker, color="0.4", label=f"$B$ = {written(batch)}")[0]
            for batch, marker in zip(batches, cycle(MARKERS), strict=False)
        ]
        ax.add_artist(first)
        ax.legend(
            handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.92),
            ncols=min(len(batches), 4), handletextpad=0, columnspacing=0.8,
        )  # fmt: skip


def _end_at_ticks(ax: Axes, ratios: pd.Series) -> None:
    """Put numbered ticks on both sides of the outermost dots."""
    if len(ratios):
        ticks = ax.xaxis.get_major_locator().tick_values(ratios.min(), ratios.max())
        below, above = ticks[ticks <= ratios.min()].max(), ticks[ticks >= ratios.max()].min()
        ax.set_xlim(0.9 * below, 1.1 * above)


def claims(material: Material) -> Claims:
    """The claims about panel C: one curve, on which dots of equal α/B have the same height."""
    outcomes = material.tables["outcomes"]
    runs = _with_ratio(outcomes[outcomes["sweep"] == SWEEP].drop_duplicates("run"))
    runs = runs.sort_values(RATIO, kind="stable").set_index("run")
    names = {
        run: f"α = {row['optimizer.lr']:g}, B = {row['batch']:g}" for run, row in runs.iterrows()
    }
    along = next((key for key in KEYS if key not in outcomes), "run")
    sweep = Sweep(material, SWEEP, along, tuple(names), names)
    ratios = list(runs[RATIO].reindex(sweep.values))
    pairs = [(a, b) for a, b in combinations(range(len(ratios)), 2) if ratios[a] == ratios[b]]
    gap = sweep.read("hidden_summary", "dual_gap")
    yield sweep.claim(
        "trend",
        "ΔL falls as α/B rises, whichever of them changes",
        "rank correlation of mean ΔL with α/B",
        FALLING,
        trend(ratios),
        gap,
    )
    yield sweep.claim(
        "equal",
        "ΔL is the same at equal α/B",
        "relative difference of mean ΔL between two points of equal α/B, up or down; mean over"
        f" all such pairs ({len(pairs)})",
        BARELY_OFF,
        Joint(change, partial(mean, axis=-1), sizes=True),
        gap[:, pairs] if pairs else gap[:, :0],
    )
