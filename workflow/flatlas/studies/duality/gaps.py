"""The panel of the generalization gap and its two parts against what is swept."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.plotting.style import BLACK, BLUE, GREEN
from flatlas.studies.duality.dots import draw_means
from flatlas.studies.duality.swept import stand

GAPS = {
    "dual_gap": (r"$\Delta L$", BLACK),
    "gap_sharp": (r"$\Delta L_s$", BLUE),
    "gap_flat": (r"$\Delta L_f$", GREEN),
}


def draw_gaps(ax: Axes, gaps: pd.DataFrame, key: str) -> None:
    """Means with bars, hollow where a training met no stopping rule."""
    places = stand(ax, sorted(gaps[key].unique()), key)
    for quantity, (_, colour) in GAPS.items():
        line = gaps[gaps["quantity"] == quantity].sort_values(key)
        at = line[key].map(places)
        ax.plot(at, line["mean"], "-", color=colour)
        draw_means(ax, at, line, colour)
    finish_gaps(ax, gaps)


def finish_gaps(ax: Axes, gaps: pd.DataFrame) -> None:
    """The legend, and room for it over an axis that begins at zero, or below all bars."""
    for label, colour in GAPS.values():
        ax.plot([], [], "o-", color=colour, label=label)
    if len(gaps):
        spread = gaps["sd"].fillna(0)
        lowest, highest = (gaps["mean"] - spread).min(), (gaps["mean"] + spread).max()
        ax.set_ylim(min(0.0, 1.1 * lowest), max(0.0, 1.25 * highest))
    ax.set_ylabel("generalization gap")
    ax.legend(ncols=3, loc="upper center", columnspacing=1.2)
