"""A heat map with its numbers in it."""

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from flatlas.minus import with_minus

# From blue through white to red, which colour-blind readers can distinguish.
SCALE = "RdBu_r"
# Beyond this share of the limit the colour is dark, and numbers on it are white.
DARK = 0.65


def heat_map(
    ax: Axes, values: np.ndarray, limit: float, text: np.ndarray, bold: np.ndarray
) -> None:
    """Draw values as colours from −`limit` to `limit` and their `text`; NaN stays empty."""
    colours = colormaps[SCALE].with_extremes(bad="0.93")
    ax.imshow(np.ma.masked_invalid(values), cmap=colours, vmin=-limit, vmax=limit, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            words = with_minus(str(text[row, column]))
            ax.text(
                column, row, words, ha="center", va="center", fontsize=6.5,
                color="white" if abs(value) > DARK * limit else "black",
                fontweight="bold" if bold[row, column] else "normal",
            )  # fmt: skip
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
