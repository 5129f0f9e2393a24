"""Figure S8: the sharpness of Figure 5 in a larger box, above all before zero error."""

from flatlas.evidence.material import Material
from flatlas.studies.prior.along import PRIOR, SHARPNESS, WIDE, CloseUp, draw_along
from flatlas.plotting.style import Drawing

BEFORE = CloseUp("since_zero_error", -200, 20, "epochs after zero error")


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness, in the box of Figure 5 and in the larger one."""
    return draw_along(material, (PRIOR, SHARPNESS, WIDE), BEFORE)
