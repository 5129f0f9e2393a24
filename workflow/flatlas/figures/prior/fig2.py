"""Figure 2: the prior of Boolean functions, by sampling, against the flatness of nets."""

from flatlas.evidence.material import Material
from flatlas.figures.prior.boolean import draw_boolean
from flatlas.figures.prior.scatter import FLATNESS
from flatlas.figures.style import Drawing


def draw(material: Material) -> Drawing:
    """One dot a function."""
    return draw_boolean(material, "sharpness", FLATNESS)
