"""Figure 4: each measure against the test error, with a dot for each net."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note
from flatlas.studies.atlas.nets import AXES, MOMENT, known_in, nets, once
from flatlas.studies.atlas.quantities import QUANTITIES
from flatlas.studies.atlas.scatter import COLUMNS, scatter_panels, set_scales
from flatlas.studies.atlas.styles import counted, small_print, styles


def draw(material: Material) -> Drawing:
    """A panel for each measure, the baselines first; dots coloured by sweep."""
    table = once(nets(material))
    drawn = known_in(table[table["test_error"].notna()])
    figure, axes = scatter_panels({name: QUANTITIES[name].label for name in drawn})
    colours = styles(table)
    for name, ax in axes.items():
        _panel(ax, table, name, colours)
    for sweep, (colour, sign) in colours.items():
        label = AXES[sweep][0] if sweep in AXES else sweep
        axes[drawn[0]].plot([], [], sign, color=colour, ms=4, label=label)
    if colours:
        figure.legend(loc="outside upper center", ncols=COLUMNS)
    note(figure, "Grey titles: baselines. " + small_print(material, table))
    points = table[["sweep", *MOMENT, "test_error", "train_error", *drawn]]
    return Drawing(figure, points)


def _panel(ax: Axes, table: pd.DataFrame, name: str, colours: dict[str, tuple[str, str]]) -> None:
    known = table.dropna(subset=[name, "test_error"])
    set_scales(ax, known[name], 100 * known["test_error"])
    for sweep, (colour, sign) in colours.items():
        some = known[known["sweep"] == sweep]
        ax.plot(
            some[name], 100 * some["test_error"], sign, color=colour, ms=3, mew=0, alpha=0.75,
        )  # fmt: skip
    if not len(known):
        ax.plot([np.nan], [np.nan])
    ax.set_xlabel(counted(table, name), fontsize=6, color="0.4")
