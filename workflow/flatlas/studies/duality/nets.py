"""Dots of trained nets from many sweeps, each in the colour of the sweep it belongs to.

The run at the defaults stands in every sweep; it is drawn once, in a colour of its own.
"""

from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from flatlas.plotting.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY
from flatlas.studies.duality.dots import draw_dots
from flatlas.studies.duality.swept import SYMBOLS

DEFAULTS = "defaults"


@dataclass(frozen=True)
class Look:
    """How the nets of a sweep are drawn and named."""

    label: str
    colour: str
    marker: str


LOOKS = {
    "alpha": Look(SYMBOLS["optimizer.lr"], BLUE, "o"),
    "batch": Look(SYMBOLS["batch"], SKY, "s"),
    "decay": Look(SYMBOLS["penalty.coefficient"], RED, "D"),
    "init": Look(SYMBOLS["net.init.scale"], ORANGE, "^"),
    "size": Look(SYMBOLS["data.per_class"], GREEN, "v"),
    "noise": Look(SYMBOLS["data.label_noise"], PURPLE, "P"),
    "dropout": Look(SYMBOLS["net.dropout"], BLACK, "X"),
    DEFAULTS: Look(DEFAULTS, GREY, "o"),
}


def look(sweep: str) -> Look:
    """A sweep that the paper does not have goes by its name."""
    return LOOKS.get(sweep, Look(sweep, GREY, "h"))


def each_once(table: pd.DataFrame, row: list[str]) -> pd.DataFrame:
    """The rows of each run once, `sweep` telling which one it belongs to, or that several do.

    `row` are the columns that tell rows of a run apart.
    """
    sweeps = table.groupby("run")["sweep"].nunique()
    several = table["run"].isin(sweeps.index[sweeps > 1])
    once = table.assign(sweep=table["sweep"].mask(several, DEFAULTS))
    return once.drop_duplicates(["run", *row])


def draw_nets(ax: Axes, points: pd.DataFrame, x: str, y: str, size: float = 4) -> None:
    """One dot a net, or a direction of one."""
    for sweep, nets in points.groupby("sweep", sort=False):
        how = look(str(sweep))
        draw_dots(ax, nets[x], nets[y], nets["converged"], how.colour, how.marker, size)


def name_sweeps(ax: Axes, points: pd.DataFrame) -> None:
    """The legend, beside the panel, where it covers no dot."""
    handles = sweep_handles(points)
    ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), handletextpad=0)


def sweep_handles(points: pd.DataFrame) -> list[Line2D]:
    """What a legend of the sweeps is made of, in the order of the sweeps."""
    drawn = list(points["sweep"].unique())
    ordered = sorted(drawn, key=lambda sweep: list(LOOKS).index(sweep) if sweep in LOOKS else -1)
    looks = [look(sweep) for sweep in ordered]
    return [
        Line2D([], [], ls="none", marker=how.marker, color=how.colour, ms=4.5, label=how.label)
        for how in looks
    ]
