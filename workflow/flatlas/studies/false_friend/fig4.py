"""Figure 4: what L2 does to the Hessian's norms and to the accuracy, on colour images."""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.false_friend.grid import claims_on_l2, draw_grid


def draw(material: Material) -> Drawing:
    """A row for each kind of net: the norms, ‖w‖ and the test accuracy over L2."""
    return draw_grid(material)


def claims(material: Material) -> list[Claim]:
    """What L2 raises in three kinds of net."""
    return claims_on_l2(material, "cnn_colour", "preresnet", "wideresnet")
