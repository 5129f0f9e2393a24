"""Figure S16: prior and eigenvalues against generalization after overtraining with Adam."""

from flatlas.evidence.material import Material
from flatlas.figures.prior.overtraining import draw_overtrained
from flatlas.figures.prior.scatter import TOP_FLATNESS
from flatlas.figures.style import Drawing


def draw(material: Material) -> Drawing:
    """A column an amount of overtraining; the prior above, flatness below."""
    return draw_overtrained(material, TOP_FLATNESS)
