"""A sweep of the net of four hidden layers: a row of panels for each pair of them (S9, S12)."""

import pandas as pd

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.studies.duality.sweeps import SWEEP_LEGEND, sweep_of, sweep_row

PAIRS = {"hidden": "hidden layers 1–2", "second": "hidden layers 2–3", "third": "hidden layers 3–4"}


def draw_layers(material: Material, sweep: str, key: str) -> Drawing:
    """The rows have the letters A-C, D-F and G-I, as in the paper."""
    figure, axes = panels(len(PAIRS), 3)
    points: list[pd.DataFrame] = []
    for row, (layer, name) in enumerate(PAIRS.items()):
        place = slice(3 * row, 3 * row + 3)
        axes[3 * row].set_title(name, loc="right")
        measured = sweep_of(material, sweep, key, layer)
        points += sweep_row(axes[place], "ABCDEFGHI"[place], measured)
    note(figure, SWEEP_LEGEND + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))
