"""How all figures look: sizes, colours, panels. Importing it changes no setting of matplotlib."""

from typing import Any

from matplotlib import colormaps, pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.labelsize": 10.0,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "legend.handlelength": 1.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "errorbar.capsize": 2.0,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "mathtext.fontset": "cm",
}

# Okabe and Ito's colours, which colour-blind readers can distinguish.
BLACK, GREEN, BLUE, RED = "#000000", "#009E73", "#0072B2", "#D55E00"
ORANGE, SKY, PURPLE = "#E69F00", "#56B4E9", "#CC79A7"
GREY = "#808080"
# For things without an order, to be used in this sequence.
COLOURS = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY)
MARKERS = "osD^vPX"


def shades(count: int) -> list[Any]:
    """Colours for ordered values, from light to dark; the lightest is visible on white."""
    scale = colormaps["viridis_r"]
    return [scale(0.15 + 0.85 * step / max(count - 1, 1)) for step in range(count)]


def panels(
    rows: int, columns: int, width: float = 3.1, height: float = 2.6
) -> tuple[Figure, list[Axes]]:
    """A figure and its axes in reading order; if there are several, lettered as in the papers."""
    size = (width * columns, height * rows)
    figure, grid = pyplot.subplots(rows, columns, figsize=size, squeeze=False)
    axes = list(grid.ravel())
    for letter, ax in zip("ABCDEFGHIJKLMNOP", axes if len(axes) > 1 else [], strict=False):
        ax.set_title(letter, loc="left", fontweight="bold")
    return figure, axes
