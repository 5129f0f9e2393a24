"""Figure 2: the prior of Boolean functions, by sampling, against the flatness of nets."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.boolean import draw_boolean
from flatlas.studies.prior.scatter import CORNERS, FLATNESS
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """By the paper's ascent, and by corners, since of ten epochs most have not converged."""
    return draw_boolean(material, FLATNESS, CORNERS)
