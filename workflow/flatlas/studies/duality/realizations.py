"""How realizations of a run are drawn: means with their spread.

Hollow dots and dashed lines mean that a training behind them met no stopping rule.
"""

from collections.abc import Iterable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note
from flatlas.plotting.trainings import small_print

LEGEND = "Lines and dots: means; bands and bars: one s.d. "
BINNED = "Lines: means over realizations and over ten bins of $n$ a decade; bands: one s.d. "


def over_seeds(table: pd.DataFrame, keys: list[str], columns: list[str]) -> pd.DataFrame:
    """Mean, standard deviation, band and counts of realizations for each of the columns."""
    long = table.melt([*keys, "converged"], columns, var_name="quantity")
    over = spread(long, [*keys, "quantity"], "value").reset_index()
    return over.assign(low=over["mean"] - over["sd"], high=over["mean"] + over["sd"])


def spread(table: pd.DataFrame, keys: list[str], column: str, sort: bool = True) -> pd.DataFrame:
    """Mean and standard deviation by `keys`, and how many realizations there are and converged."""
    grouped = table.groupby(keys, sort=sort)
    means = grouped[column].agg(mean="mean", sd="std", realizations="size")
    return means.assign(converged=grouped["converged"].sum())


def above_zero(over: pd.DataFrame) -> pd.DataFrame:
    """The same table with bands cut at a tenth of the mean: a logarithmic axis can't show zero."""
    return over.assign(low=over["low"].clip(lower=over["mean"] / 10))


def all_converged(points: pd.DataFrame) -> bool:
    """Whether each training behind the points met its stopping rule."""
    return bool((points["converged"] == points["realizations"]).all())


def draw_line(
    ax: Axes, line: pd.DataFrame, colour: Any, label: str | None = None, alpha: float = 0.15
) -> None:
    """Draw a mean against n, with its band."""
    style = "-" if all_converged(line) else "--"
    ax.plot(line["n"], line["mean"], style, color=colour, label=label)
    ax.fill_between(line["n"], line["low"], line["high"], color=colour, alpha=alpha, lw=0)


def draw_means(
    ax: Axes, means: pd.DataFrame, x: str, colour: str, marker: str = "o", joined: bool = True
) -> None:
    """Draw dots at the means, with bars, and a line that joins them."""
    if joined:
        ax.plot(means[x], means["mean"], "-", color=colour)
    ax.errorbar(means[x], means["mean"], means["sd"], fmt="none", ecolor=colour)
    full = means.assign(converged=means["converged"] == means["realizations"])
    draw_dots(ax, full, x, "mean", colour, marker)


def draw_dots(
    ax: Axes,
    points: pd.DataFrame,
    x: str,
    y: str,
    colour: str,
    marker: str = "o",
    size: float = 4.5,
    many: bool = False,
) -> None:
    """Draw full dots, then hollow ones; `many` dots are pale, and rasterized in the PDF."""
    converged = points["converged"].astype(bool)
    for dots, face in ((points[converged], colour), (points[~converged], "white")):
        # A logarithmic axis fails on a line without points.
        if len(dots):
            ax.plot(
                dots[x], dots[y], marker, ms=size, color=colour, mfc=face, mew=0.15 * size,
                alpha=0.6 if many else 1.0, rasterized=many, zorder=2.5,
            )  # fmt: skip


def finish(
    figure: Figure, points: Iterable[pd.DataFrame], material: Material, legend: str
) -> Drawing:
    """The drawing of these points, with the legend and the count of trainings as small print."""
    note(figure, legend + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))
