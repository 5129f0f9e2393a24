"""Not in the paper: as Figure 5, with the first layer divided by what it was multiplied by."""

from flatlas.claims.claim import Claim, ours
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.along import CORNERS, PRIOR, SHARPNESS, draw_along
from flatlas.studies.prior.scaling import judge_scaling


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness by both searches. On the right, around the scaling."""
    return draw_along(material, (PRIOR, SHARPNESS, CORNERS))


def claims(material: Material) -> list[Claim]:
    """The scaling, and what comes after it; what comes before is judged in Figure 5."""
    return ours(judge_scaling(material, "scaled_inverse"))
