"""Figure S15: prior and eigenvalues against generalization after overtraining with SGD."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.overtraining import draw_overtrained
from flatlas.studies.prior.scatter import TOP_FLATNESS
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """A column an amount of overtraining; the prior above, flatness below."""
    return draw_overtrained(material, TOP_FLATNESS)
