"""Panels of the test error against each measure."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from flatlas.plotting.style import panels, plain_ticks
from flatlas.studies.atlas.quantities import BASELINES

COLUMNS = 6
# An axis is logarithmic if all values are positive and their range exceeds this factor.
SPAN = 5
# Up to this factor its ticks are plain numbers.
FEW_DECADES = 100


def scatter_panels(titles: Mapping[str, str]) -> tuple[Figure, dict[str, Axes]]:
    """A figure with an empty panel for each measure with a title, grey for baselines."""
    figure, axes = panels(-(-len(titles) // COLUMNS) or 1, COLUMNS, width=1.85, height=1.8)
    for ax in axes:
        ax.set_title("", loc="left")
    for ax in axes[len(titles) :]:
        ax.remove()
    found = dict(zip(titles, axes, strict=False))
    for place, (name, ax) in enumerate(found.items()):
        colour = "0.45" if name in BASELINES else "black"
        ax.set_title(titles[name], fontsize=8, color=colour)
        ax.tick_params(labelsize=6.5)
        if place % COLUMNS == 0:
            ax.set_ylabel("test error (%)", fontsize=8)
    return figure, found


def set_scales(ax: Axes, measure: pd.Series, percent: pd.Series) -> None:
    """Make an axis logarithmic if its values span a large factor."""
    for values, axis, scale in (
        (measure, ax.xaxis, ax.set_xscale),
        (percent, ax.yaxis, ax.set_yscale),
    ):
        if len(values) and values.min() > 0 and values.max() > SPAN * values.min():
            scale("log")
            axis.set_minor_formatter(NullFormatter())
            if values.max() < FEW_DECADES * values.min():
                plain_ticks(axis, (1.0, 3.0))
