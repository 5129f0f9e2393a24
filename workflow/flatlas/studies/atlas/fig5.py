"""Figure 5: how long a measure takes, and how well it ranks nets by their gap."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material, each_run_once
from flatlas.plotting.style import BLUE, GREY, Drawing, note, panels
from flatlas.studies.atlas.nets import MOMENT, Along, crossed, nets
from flatlas.studies.atlas.quantities import BASELINES, QUANTITIES, TABLES, TAKEN
from flatlas.studies.atlas.ranking import ranked
from flatlas.studies.atlas.styles import small_print

# Dots of one job that are nearer than this in |τ| are drawn side by side, this factor apart.
NEAR, SPACING = 0.05, 1.17
# What training gives for free, drawn at this share of the quickest measure's seconds.
FREE_PART, FREE = "training", 0.4


def draw(material: Material) -> Drawing:
    """A dot for each quantity: the seconds for a net in the median run, and |τ|."""
    table = nets(material)
    some = crossed(table)
    points = pd.DataFrame([_row(material, some, name) for name in QUANTITIES])
    known = points.dropna(subset=["size_of_tau"])
    quickest = known["seconds"].min()
    free = FREE * quickest if np.isfinite(quickest) else 1.0
    known = known.assign(at=known["seconds"].fillna(free))
    known = known.sort_values("size_of_tau", ascending=False)
    known = known.assign(number=range(1, len(known) + 1))
    figure, (ax,) = panels(1, 1, width=7.4, height=4.6)
    ax.set_xscale("log")
    for _, column in known.groupby("at"):
        _column(ax, column)
    ax.set(ylim=(-0.05, 1.05), ylabel=r"$|\tau|$ with the generalization gap")
    if len(known):
        ax.set_xlim(free / 1.5, known["at"].max() * 2.5)
    ax.set_xlabel("seconds a net, in the median run")
    for _, row in known.iterrows():
        at = (1.03, 1 - (row["number"] - 0.5) / len(QUANTITIES))
        words = f"{row['number']:2d}  {QUANTITIES[row['measure']].label}"
        ax.text(*at, words, transform=ax.transAxes, va="center", fontsize=8, color=_colour(row))
    note(
        figure,
        "Grey: baselines. Epochs come with the training. Measures of one job share "
        "its time; they are side by side where they would hide each other. Times depend on the "
        "machine and its other work: with new measurements this figure changes. "
        + small_print(material, table),
    )
    return Drawing(figure, points)


def _row(material: Material, some: Along, name: str) -> dict[str, object]:
    found = ranked(some, name)
    row = {"measure": name, "baseline": name in BASELINES, "seconds": _seconds(material, name)}
    return row | {"size_of_tau": abs(found.value)}


def _seconds(material: Material, name: str) -> float:
    """The seconds of a job for each net that it measured, in the median run."""
    part = QUANTITIES[name].part
    measure, _ = TAKEN[part]
    if f"{measure}_cost" not in material.tables or part == FREE_PART:
        return np.nan
    jobs = each_run_once(material.tables[f"{measure}_cost"]).groupby("run")
    rows = material.tables[TABLES[part]]
    measured = rows.drop_duplicates([one for one in MOMENT if one in rows]).groupby("run").size()
    return float((jobs["seconds"].sum() / measured).median())


def _column(ax: Axes, column: pd.DataFrame) -> None:
    """The dots of one job, with their numbers in the list beside the panel."""
    at, last = 0.0, np.inf
    for _, row in column.iterrows():
        at = at * SPACING if last - row["size_of_tau"] < NEAR else float(row["at"])
        last = row["size_of_tau"]
        ax.plot(at, last, "o", color=_colour(row), ms=9.5, mew=0)
        ax.text(at, last - 0.003, row["number"], ha="center", va="center", fontsize=6, color="w")


def _colour(row: pd.Series) -> str:
    return GREY if row["baseline"] else BLUE
