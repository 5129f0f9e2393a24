"""Dots for trained nets of many sweeps, in the colours of their sweeps.

A run at the defaults is part of several sweeps: of all that have its number of realizations. It is
drawn once, in a separate colour.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from flatlas.plotting.style import BLACK, BLUE, COLOURS, GREEN, GREY, ORANGE, PURPLE, RED, SKY
from flatlas.studies.duality.realizations import draw_dots
from flatlas.studies.duality.swept import SYMBOLS, varied

DEFAULTS = "defaults"
# The colour and the marker of each sweep.
STYLES = {
    "alpha": (BLUE, "o"),
    "batch": (SKY, "s"),
    "decay": (RED, "D"),
    "init": (ORANGE, "^"),
    "size": (GREEN, "v"),
    "noise": (PURPLE, "P"),
    "dropout": (BLACK, "X"),
}
# The markers of a user's sweeps, which the paper does not have.
OWN_MARKERS = "hp*<>dH8"


@dataclass(frozen=True)
class Style:
    """How the nets of a sweep are drawn and named."""

    label: str
    colour: str
    marker: str


def styles(sweeps: Iterable[str]) -> dict[str, Style]:
    """The style of each sweep, in the order of a legend: a user's first, the defaults last.

    A user's sweep keeps its name.
    """
    drawn = {*sweeps}
    known = [sweep for sweep in STYLES if sweep in drawn]
    own = zip(sorted(drawn - {*STYLES, DEFAULTS}), cycle(COLOURS), cycle(OWN_MARKERS))
    found = {sweep: Style(sweep, colour, marker) for sweep, colour, marker in own}
    found |= {sweep: Style(SYMBOLS[varied(sweep)[0]], *STYLES[sweep]) for sweep in known}
    return found | ({DEFAULTS: Style(DEFAULTS, GREY, "o")} if DEFAULTS in drawn else {})


def each_once(table: pd.DataFrame, row: list[str]) -> pd.DataFrame:
    """The rows of each run once; `sweep` is `defaults` for a run of several sweeps.

    The columns `row` distinguish the rows of a run.
    """
    sweeps = table.groupby("run")["sweep"].nunique()
    several = table["run"].isin(sweeps.index[sweeps > 1])
    once = table.assign(sweep=table["sweep"].mask(several, DEFAULTS))
    return once.drop_duplicates(["run", *row])


def draw_nets(ax: Axes, points: pd.DataFrame, x: str, y: str, size: float = 4) -> None:
    """One dot for each row of `points`."""
    how = styles(points["sweep"])
    for sweep, nets in points.groupby("sweep", sort=False):
        style = how[str(sweep)]
        draw_dots(ax, nets, x, y, style.colour, style.marker, size)


def name_sweeps(ax: Axes, points: pd.DataFrame) -> None:
    """Draw the legend next to the panel, where it covers no dot."""
    handles = sweep_handles(points)
    ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), handletextpad=0)


def sweep_handles(points: pd.DataFrame) -> list[Line2D]:
    """The entries of a legend of the sweeps."""
    return [
        Line2D(
            [], [], ls="none", marker=style.marker, color=style.colour, ms=4.5, label=style.label
        )
        for style in styles(points["sweep"]).values()
    ]
