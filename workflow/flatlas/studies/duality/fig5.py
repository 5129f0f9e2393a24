"""Figure 5: gap, sharpness and size by direction, of synchronous and decentralized learners.

Claims: Figure 5: decentralized learners (DPSGD) against synchronized ones (SSGD).
"""

import pandas as pd

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.studies.duality.learners import COLUMNS, LEGEND, judge_learners, learners_row

PAPER = {"ssgd": "2.6", "dpsgd": "2.3"}


def draw(material: Material) -> Drawing:
    """A panel a quantity; the test errors stand in the first."""
    figure, axes = panels(1, len(COLUMNS))
    points = learners_row(axes, "ABC", material, "learners", "hidden", PAPER)
    note(figure, LEGEND + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))


def claims(material: Material) -> list[Claim]:
    """The text's test errors, and panels A-C."""
    return judge_learners(material, "learners", "hidden", "2.3 % against 2.6 %: −0.3")
