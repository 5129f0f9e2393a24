"""Figure 4: each measure against the test error, with a dot for each net."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels, plain_ticks
from flatlas.studies.atlas.nets import AXES, MOMENT, nets, once
from flatlas.studies.atlas.quantities import BASELINES, QUANTITIES
from flatlas.studies.atlas.styles import counted, small_print, styles

COLUMNS = 6
# An axis is logarithmic if all values are positive and their range exceeds this factor.
SPAN = 5
# Up to this factor its ticks are plain numbers.
FEW_DECADES = 100


def draw(material: Material) -> Drawing:
    """A panel for each measure, the baselines first; dots coloured by sweep."""
    table = once(nets(material))
    known = table[table["test_error"].notna()]
    drawn = [name for name in QUANTITIES if known[name].notna().any()] or [*QUANTITIES]
    rows = -(-len(drawn) // COLUMNS)
    figure, axes = panels(rows, COLUMNS, width=1.85, height=1.8)
    colours = styles(table)
    for place, ax in enumerate(axes):
        ax.set_title("", loc="left")
        if place >= len(drawn):
            ax.remove()
            continue
        _panel(ax, table, drawn[place], colours)
        if place % COLUMNS == 0:
            ax.set_ylabel("test error (%)", fontsize=8)
    for sweep, (colour, sign) in colours.items():
        label = AXES[sweep][0] if sweep in AXES else sweep
        axes[0].plot([], [], sign, color=colour, ms=4, label=label)
    if colours:
        figure.legend(loc="outside upper center", ncols=COLUMNS)
    note(figure, "Grey titles: baselines. " + small_print(material, table))
    points = table[["sweep", *MOMENT, "test_error", "train_error", *drawn]]
    return Drawing(figure, points)


def _panel(ax: Axes, table: pd.DataFrame, name: str, colours: dict[str, tuple[str, str]]) -> None:
    known = table.dropna(subset=[name, "test_error"])
    for values, axis, scale in (
        (known[name], ax.xaxis, ax.set_xscale),
        (100 * known["test_error"], ax.yaxis, ax.set_yscale),
    ):
        if len(known) and values.min() > 0 and values.max() > SPAN * values.min():
            scale("log")
            axis.set_minor_formatter(NullFormatter())
            if values.max() < FEW_DECADES * values.min():
                plain_ticks(axis, (1.0, 3.0))
    for sweep, (colour, sign) in colours.items():
        some = known[known["sweep"] == sweep]
        ax.plot(
            some[name], 100 * some["test_error"], sign, color=colour, ms=3, mew=0, alpha=0.75,
        )  # fmt: skip
    if not len(known):
        ax.plot([np.nan], [np.nan])
    colour = "0.45" if name in BASELINES else "black"
    ax.set_title(QUANTITIES[name].label, fontsize=8, color=colour)
    ax.set_xlabel(counted(table, name), fontsize=6, color="0.4")
    ax.tick_params(labelsize=6.5)
