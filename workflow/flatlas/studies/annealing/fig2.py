"""Figure 2: the valley of the loss along the p_i, and the inverse variance-flatness relation."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import BARELY_OFF, RISING
from flatlas.claims.nets import Nets
from flatlas.evidence.material import DOT, Material, with_settings
from flatlas.plotting.style import BLACK, BLUE, Drawing, note, panels
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.studies.annealing import recordings, relation
from flatlas.studies.annealing.directions import POOLED, moving, pooled, ranks, read, runs
from flatlas.studies.annealing.fits import log_log
from flatlas.studies.annealing.recordings import BASE, COLOURS, FIRST, LAST, RANKS, VALLEY

RATES = "rates"
KEYS = ["batch", "optimizer.lr"]
MARKERS = "osDv^P"
# Panel A shows profiles up to this many times L_0.
SHOWN = 6


def draw(material: Material) -> Drawing:
    """A, B: profiles of the first net. C: flatness by rank. D: for every B and α."""
    columns = "rank", "delta", "loss", "quadratic"
    profiles = recordings.measured(material, "valley_profiles", *columns, keys=DOT)
    profiles = profiles[(profiles["sweep"] == BASE) & profiles["rank"].isin(RANKS)]
    profiles = recordings.first_net(profiles)
    rows = relation.flatnesses(material, *KEYS)
    figure, axes = panels(2, 2, width=3.7, height=2.9)
    _profiles(axes[0], profiles)
    _logarithms(axes[1], profiles)
    base = rows[(rows["sweep"] == BASE) & (rows["rank"] <= LAST)]
    axes[2].plot(base["rank"], base["flatness"], ".", color=BLUE, ms=3, alpha=0.6)
    log_log(axes[2], base, xlabel="rank $i$", ylabel="flatness $F_i$")
    fits = list(_relations(axes[3], rows))
    note(
        figure,
        "A, B: the first net; B: dotted, the parabola through $\\ln{L_0}$ and the points half-way"
        " to both ends; arrow: $F_i$, the width where $L_i\\leq{e}\\,L_0$. C, D: all nets. The"
        f" paper: $\\psi$ ≈ {relation.PSI:g}. " + relation.remarks(material, rows),
    )
    points = [profiles.assign(panel="A, B"), relation.diffusive(rows).assign(panel="C, D"), *fits]
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _profiles(ax: Axes, profiles: pd.DataFrame) -> None:
    least = profiles.loc[profiles["delta"] == 0, "loss"].mean()
    low = profiles[profiles["loss"] <= SHOWN * least]
    for (rank, line), colour in zip(low.groupby("rank"), COLOURS, strict=False):
        ax.plot(line["delta"], line["loss"], color=colour, label=f"$i$ = {rank:g}")
    ax.set(xlabel=r"$\delta\theta$", ylabel=r"$L_i(\delta\theta)$")
    if len(profiles):
        # Room for the legend above the lines.
        ax.set_ylim(0, 1.35 * SHOWN * least)
        ax.legend(loc="upper center", ncols=2, handlelength=1.2)


def _logarithms(ax: Axes, profiles: pd.DataFrame) -> None:
    for (_, line), colour in zip(profiles.groupby("rank"), COLOURS, strict=False):
        ax.plot(line["delta"], np.log(line["loss"]), color=colour)
        ax.plot(line["delta"], np.log(line["quadratic"]), ":", color=BLACK, lw=1.0)
    if len(profiles):
        _width(ax, line, colour)
    ax.set(xlabel=r"$\delta\theta$", ylabel=r"$\ln\,L_i(\delta\theta)$")


def _width(ax: Axes, line: pd.DataFrame, colour: str) -> None:
    """The flatness of one direction, as an arrow between the ends of its valley."""
    log = np.log(line["loss"])
    level = log[line["delta"] == 0].iloc[0] + 1
    inside = line.loc[log <= level, "delta"]
    ends = inside.min(), inside.max()
    arrow = {"arrowstyle": "<->", "color": colour, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (ends[0], level), (ends[1], level), arrowprops=arrow)
    symbol = f" $F_{{{line['rank'].iloc[0]:g}}}$"
    ax.text(ends[1], level, symbol, color=colour, ha="left", va="top")


def _relations(ax: Axes, rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for place, (run, mine) in enumerate(rows.groupby("run", sort=False)):
        batch, lr = mine[KEYS].iloc[0]
        label = rf"$B$ = {batch:g}, $\alpha$ = {lr:g}"
        style = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        for found in relation.plot(ax, mine, label, *style):
            yield found.assign(panel="D", run=run, batch=batch, **{"optimizer.lr": lr})
    relation.finish(ax)


def claims(material: Material) -> Claims:
    """The claims about panels B and C for the base run, and about panel D for all runs."""
    material = moving(material, VALLEY)
    yield from _valleys(Nets(material, BASE))
    yield from _every_rate(material)


def _valleys(nets: Nets) -> Claims:
    width, curvature, settled = (
        read(nets, VALLEY, column) for column in ("flatness", "curvature", "converged")
    )
    # A hill's parabola is infinitely wide: its relative deviation is 1.
    off = np.abs(width * np.sqrt(curvature.clip(0) / 8) - 1)
    yield nets.claim(
        "quadratic",
        "ln L_i is a parabola near 0, for all directions but the first",
        "F_i as measured against that of the parabola through the points half-way to both ends"
        f" (Eq. 7), relative; mean over directions {FIRST} to {LAST} and nets",
        BARELY_OFF,
        mean,
        mean(off, -1),
        settled=(settled,),
    )
    yield nets.judged(
        "rises",
        "the flatness F_i rises with the rank",
        f"rank correlation of F_i with i, {POOLED}",
        RISING,
        pooled(spearman, ranks(), width),
        half_width=None,
        settled=(settled,),
    )


def _every_rate(material: Material) -> Claims:
    for number, nets in enumerate(runs(material, BASE, RATES)):
        point = with_settings(nets.outcomes, KEYS)[KEYS].iloc[0]
        batch, lr = point
        name = f"B{batch:g}_lr{lr:g}" if point.notna().all() else f"run{number}"
        where = f"B = {batch:g}, α = {lr:g}"
        yield relation.inverse_relation(nets, f"inverse_{name}", where)
        yield relation.psi(nets, f"psi_{name}", where)
