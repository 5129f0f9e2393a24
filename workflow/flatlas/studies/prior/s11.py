"""Figure S11: prior and sharpness against generalization after overtraining with SGD."""

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.overtraining import draw_overtrained
from flatlas.studies.prior.scatter import CORNERS, FLATNESS


def draw(material: Material) -> Drawing:
    """A column an amount of overtraining; the prior above, below flatness by both searches."""
    return draw_overtrained(material, FLATNESS, CORNERS)


def claims(material: Material):
    """See there."""
    from flatlas.studies.prior.s11_claims import judge

    return judge(material)
