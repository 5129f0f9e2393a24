"""Figure 6: the noise of minibatch gradients along the Hessian's eigenvectors."""

from collections.abc import Sequence
from math import ceil, inf

import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flatlas.evidence.material import Material
from flatlas.studies.duality.learners import COLOURS, KIND, NAMES
from flatlas.studies.duality.ranks import picked
from flatlas.studies.duality.realizations import all_converged
from flatlas.plotting.style import Drawing, note, shades
from flatlas.plotting.trainings import small_print
from flatlas.statistics.round_off import ROUND_OFF

DIRECTION = ["at", "epoch", "n", "eigenvalue", "noise"]


def draw(material: Material) -> Drawing:
    """A: one kind of learners at all moments; B: both kinds, a small panel a moment."""
    points = noise(material)
    moments = sorted(points["at"].unique(), key=_when)
    figure, large, small = _grid(len(moments))
    _moments_panel(large, points[points[KIND] == "dpsgd"], moments)
    for ax, moment in zip(small, moments, strict=False):
        _kinds_panel(ax, points[points["at"] == moment])
        ax.set_title(_named(moment), fontsize=8.5)
    if moments:
        small[0].legend(loc="upper left", handlelength=1.2)
    note(
        figure,
        "Dots: directions at ten ranks a decade; means over realizations, bars: one s.d. "
        + small_print(material),
    )
    return Drawing(figure, points)


def noise(material: Material) -> pd.DataFrame:
    """Mean eigenvalue and noise at some ranks, of each kind of learners at each moment.

    A training that had ended before a moment has none to show there.
    """
    table = material.measured("gradients_directions", DIRECTION, "learners", every_moment=True)
    table = table.assign(at=table["at"].astype(str))
    # As the claims do: along a direction whose H_n is round-off, the noise says nothing.
    largest = table.groupby(["run", "seed", "at"])["eigenvalue"].transform("max")
    table = picked(table[table["eigenvalue"] > ROUND_OFF * largest])
    asked = table["at"].map(_when).astype(float)
    table = table[(asked == inf) | (table["epoch"] >= asked)]
    means = table.groupby([KIND, "at", "n"], sort=True).agg(
        epoch=("epoch", "mean"),
        eigenvalue=("eigenvalue", "mean"),
        mean=("noise", "mean"),
        sd=("noise", "std"),
        realizations=("noise", "size"),
        converged=("converged", "sum"),
    )
    return means.reset_index()


def _grid(moments: int) -> tuple[Figure, Axes, list[Axes]]:
    """One large panel, and beside it two rows of small ones that share their axes."""
    columns = max(ceil(moments / 2), 1)
    rows = 2 if moments > 1 else 1
    figure = pyplot.figure(figsize=(3.8 + 2.3 * columns, 4.0))
    grid = figure.add_gridspec(rows, 1 + columns, width_ratios=[3.6] + columns * [2.2])
    large = figure.add_subplot(grid[:, 0])
    large.set_title("A", loc="left", fontweight="bold")
    small: list[Axes] = []
    for place in range(max(moments, 1)):
        row, column = divmod(place, columns)
        shared = small[0] if small else None
        small.append(figure.add_subplot(grid[row, 1 + column], sharex=shared, sharey=shared))
        if row == rows - 1 or place + columns >= moments:
            small[-1].set_xlabel("$H_n$")
        else:
            small[-1].tick_params(labelbottom=False)
        if column == 0:
            small[-1].set_ylabel(r"$\Delta_n$")
        else:
            small[-1].tick_params(labelleft=False)
    small[0].set_title("B", loc="left", fontweight="bold")
    return figure, large, small


def _moments_panel(ax: Axes, points: pd.DataFrame, moments: Sequence[str]) -> None:
    for moment, colour in zip(moments, shades(len(moments)), strict=True):
        _line(ax, points[points["at"] == moment], colour, _named(moment))
    _finish(ax, points)
    ax.set(xlabel="$H_n$", ylabel=r"$\Delta_n$")
    ax.set_title(NAMES["dpsgd"], loc="right")
    if len(points):
        ax.legend(loc="upper left")


def _kinds_panel(ax: Axes, points: pd.DataFrame) -> None:
    for kind, name in NAMES.items():
        _line(ax, points[points[KIND] == kind], COLOURS[kind], name)
    _finish(ax, points)


def _line(ax: Axes, line: pd.DataFrame, colour: str, label: str) -> None:
    face = colour if all_converged(line) else "white"
    low = line["sd"].clip(upper=0.9 * line["mean"])
    ax.errorbar(
        line["eigenvalue"], line["mean"], [low, line["sd"]], fmt="o-", ms=2.5, lw=0.8,
        elinewidth=0.5, capsize=0, color=colour, mfc=face, label=label,
    )  # fmt: skip


def _finish(ax: Axes, points: pd.DataFrame) -> None:
    if len(points):
        ax.set(xscale="log", yscale="log")


def _when(moment: str) -> float:
    return float(moment) if moment.isdigit() else inf


def _named(moment: str) -> str:
    return f"epoch {moment}" if moment.isdigit() else moment
