"""Dots that are hollow where a training behind them met no stopping rule."""

import pandas as pd
from matplotlib.axes import Axes


def draw_dots(
    ax: Axes,
    x: pd.Series,
    y: pd.Series,
    converged: pd.Series,
    colour: str,
    marker: str = "o",
    size: float = 4.5,
    many: bool = False,
) -> None:
    """The full ones, then the hollow ones; `many` dots are pale, and pixels in a vector graphic."""
    for chosen, face in ((converged, colour), (~converged, "white")):
        # A logarithmic axis can't do with a line of no points.
        if chosen.any():
            ax.plot(
                x[chosen], y[chosen], marker, ms=size, color=colour, mfc=face, mew=0.15 * size,
                alpha=0.6 if many else 1.0, rasterized=many, zorder=2.5,
            )  # fmt: skip


def draw_means(
    ax: Axes, x: pd.Series, means: pd.DataFrame, colour: str, marker: str = "o", size: float = 4.5
) -> None:
    """Means over realizations with their bars; full where each of them converged."""
    full = means["converged"] == means["realizations"]
    ax.errorbar(x, means["mean"], means["sd"], fmt="none", ecolor=colour)
    draw_dots(ax, x, means["mean"], full, colour, marker, size)
