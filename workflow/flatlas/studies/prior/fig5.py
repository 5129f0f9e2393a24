"""Figure 5: prior and sharpness at every epoch, with an α-scaling long after zero error."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.along import CORNERS, PRIOR, SHARPNESS, draw_along
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness by both searches. On the right the paper's inset."""
    return draw_along(material, (PRIOR, SHARPNESS, CORNERS))
