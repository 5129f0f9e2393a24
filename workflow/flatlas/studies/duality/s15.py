"""Figure S15: the number of images (A-D), and the fraction of them mislabelled (E-H)."""

import pandas as pd

from flatlas.evidence.material import Material
from flatlas.studies.duality.sweeps import SWEEP_LEGEND, sweep_of, sweep_row
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print

COLUMNS = ("sigma_g", "S_w", "correlation")


def draw(material: Material) -> Drawing:
    """One row of panels a sweep."""
    figure, axes = panels(2, 4, width=2.9)
    size = sweep_of(material, "size", "data.per_class")
    noise = sweep_of(material, "noise", "data.label_noise")
    points = [
        *sweep_row(axes[:4], "ABCD", size, COLUMNS),
        *sweep_row(axes[4:], "EFGH", noise, COLUMNS),
    ]
    for ax in (axes[2], axes[6]):
        ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
    note(figure, SWEEP_LEGEND + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))
