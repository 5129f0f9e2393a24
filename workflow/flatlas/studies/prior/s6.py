"""Figure S6: as Figure 5, with an α so small that the net stays at zero error."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.along import CORNERS, PRIOR, SHARPNESS, draw_along
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness by both searches. On the right, around the scaling."""
    return draw_along(material, (PRIOR, SHARPNESS, CORNERS))
