"""Figure S11: prior and sharpness against generalization after overtraining with SGD."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.overtraining import draw_overtrained
from flatlas.studies.prior.scatter import CORNERS, FLATNESS
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """A column an amount of overtraining; the prior above, below flatness by both searches."""
    return draw_overtrained(material, FLATNESS, CORNERS)
