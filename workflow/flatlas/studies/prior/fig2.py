"""Figure 2: the prior of Boolean functions, by sampling, against the flatness of nets.

Claims: Figure 2: Boolean functions that are likely are found in flat places.
"""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.boolean import draw_boolean, judge_boolean
from flatlas.studies.prior.scatter import CORNERS, FLATNESS


def draw(material: Material) -> Drawing:
    """By the paper's ascent, and by corners, since of ten epochs most have not converged."""
    return draw_boolean(material, FLATNESS, CORNERS)


def claims(material: Material) -> list[Claim]:
    """Over all functions, by corners: the paper's ascent has too little time in ten epochs."""
    return judge_boolean(material, "flatness by corners", "corners", "sharpness")
