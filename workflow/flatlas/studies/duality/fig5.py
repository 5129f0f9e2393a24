"""Figure 5: gap, sharpness and size by direction, of synchronous and decentralized learners."""

import pandas as pd

from flatlas.evidence.material import Material
from flatlas.studies.duality.learners import COLUMNS, LEGEND, learners_row
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print

PAPER = {"ssgd": "2.6", "dpsgd": "2.3"}


def draw(material: Material) -> Drawing:
    """A panel a quantity; the test errors stand in the first."""
    figure, axes = panels(1, len(COLUMNS))
    points = learners_row(axes, "ABC", material, "learners", "hidden", PAPER)
    note(figure, LEGEND + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))
