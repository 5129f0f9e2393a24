"""Figure 2: the valley of the loss along the p_i, and the inverse variance-flatness relation."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, Drawing, note, panels
from flatlas.studies.annealing.fits import log_log
from flatlas.studies.annealing.recordings import first_net, small_print
from flatlas.studies.annealing.relation import (
    FIRST,
    FIT_LEGEND,
    LAST,
    finish,
    flatnesses,
    relation,
    unended,
)

BASE, RATES = "base", "rates"
KEYS = ("batch", "optimizer.lr")
# The paper's directions.
RANKS = (10, 20, 50, 100)
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, RED, BLACK)
MARKERS = "osDv^P"
# Up to how many times L_0 the profiles of panel A are shown.
SHOWN = 6


def draw(material: Material) -> Drawing:
    """A, B: profiles of the first net. C: flatness by rank. D: for every B and α."""
    profiles = material.measured("valley_profiles", ["rank", "delta", "loss", "quadratic"], BASE)
    profiles = first_net(profiles[profiles["rank"].isin(RANKS)])
    profiles = profiles[["sweep", "run", "seed", "rank", "delta", "loss", "quadratic"]]
    rows = flatnesses(material, None, *KEYS)
    figure, axes = panels(2, 2, width=3.7, height=2.9)
    _profiles(axes[0], profiles)
    _logarithms(axes[1], profiles)
    _by_rank(axes[2], rows[rows["sweep"] == BASE])
    fits = list(_relations(axes[3], rows))
    note(
        figure,
        "A, B: the first net; B: dotted, the parabola through $\\ln{L_0}$ and the points half-way"
        " to both ends; arrow: $F_i$, the width where $L_i\\leq{e}\\,L_0$. C, D: all nets. The"
        " paper: $\\psi$ ≈ 4. " + FIT_LEGEND + unended(rows) + small_print(material),
    )
    diffusive = rows[rows["rank"].between(FIRST, LAST)]
    points = [profiles.assign(panel="A, B"), diffusive.assign(panel="C, D"), *fits]
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _lines(profiles: pd.DataFrame) -> Iterator[tuple[Any, pd.DataFrame, str]]:
    """Rank, profile and colour."""
    for (rank, line), colour in zip(profiles.groupby("rank"), COLOURS, strict=False):
        yield rank, line, colour


def _profiles(ax: Axes, profiles: pd.DataFrame) -> None:
    least = profiles.loc[profiles["delta"] == 0, "loss"].mean()
    for rank, line, colour in _lines(profiles[profiles["loss"] <= SHOWN * least]):
        ax.plot(line["delta"], line["loss"], color=colour, label=f"$i$ = {rank:g}")
    ax.set(xlabel=r"$\delta\theta$", ylabel=r"$L_i(\delta\theta)$")
    if len(profiles):
        # Room for the legend above the lines.
        ax.set_ylim(0, 1.35 * SHOWN * least)
        ax.legend(loc="upper center", ncols=2, handlelength=1.2)


def _logarithms(ax: Axes, profiles: pd.DataFrame) -> None:
    for rank, line, colour in _lines(profiles):
        log = np.log(line["loss"])
        ax.plot(line["delta"], log, color=colour, label=f"$i$ = {rank:g}")
        ax.plot(line["delta"], np.log(line["quadratic"]), ":", color=BLACK, lw=1.0)
    if len(profiles):
        _width(ax, profiles[profiles["rank"] == profiles["rank"].max()], colour)
    ax.set(xlabel=r"$\delta\theta$", ylabel=r"$\ln\,L_i(\delta\theta)$")


def _width(ax: Axes, line: pd.DataFrame, colour: str) -> None:
    """What is called flatness, of one direction. The profile's points stand in units of F_i."""
    log = np.log(line["loss"])
    level = log[line["delta"] == 0].iloc[0] + 1
    inside = line.loc[log <= level, "delta"]
    ends = inside.min(), inside.max()
    arrow = {"arrowstyle": "<->", "color": colour, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (ends[0], level), (ends[1], level), arrowprops=arrow)
    told = f" $F_{{{line['rank'].iloc[0]:g}}}$"
    ax.text(ends[1], level, told, color=colour, ha="left", va="top")


def _by_rank(ax: Axes, rows: pd.DataFrame) -> None:
    rows = rows[rows["rank"] <= LAST]
    ax.plot(rows["rank"], rows["flatness"], ".", color=BLUE, ms=3, alpha=0.6)
    log_log(ax, rows)
    ax.set(xlabel="rank $i$", ylabel="flatness $F_i$")


def _relations(ax: Axes, rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    runs = rows.drop_duplicates("run")
    for place, (run, batch, lr) in enumerate(
        zip(runs["run"], *(runs[k] for k in KEYS), strict=True)
    ):
        mine = rows[rows["run"] == run]
        label = rf"$B$ = {batch:g}, $\alpha$ = {lr:g}"
        look = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        for told in relation(ax, mine, label, *look):
            yield told.assign(panel="D", run=run, batch=batch, **{"optimizer.lr": lr})
    finish(ax)


def claims(material: Material):
    """See there."""
    from flatlas.studies.annealing.fig2_claims import judge

    return judge(material)
