"""Figure 3: sharpness, size and gap against learning rate (A-C) and batch size (D-F)."""

import pandas as pd

from flatlas.figures.duality.sweeps import SWEEP_LEGEND, small_print, sweep_row
from flatlas.figures.style import Drawing, note, panels
from flatlas.store.material import Material


def draw(material: Material) -> Drawing:
    """One row of panels a sweep."""
    figure, axes = panels(2, 3)
    points = [
        *sweep_row(material, axes[:3], "ABC", "alpha", "optimizer.lr"),
        *sweep_row(material, axes[3:], "DEF", "batch", "batch"),
    ]
    note(figure, SWEEP_LEGEND + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))
