"""Figure 4: what L2 does to the Hessian's norms and to the accuracy, on colour images.

Claims: Figure 4: L2 on colour images.
"""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.false_friend.grid import draw_grid
from flatlas.studies.false_friend.grid_claims import claims_on_l2


def draw(material: Material) -> Drawing:
    """A row a net: the norms, ‖w‖ and the test accuracy over the strength of L2."""
    return draw_grid(material)


def claims(material: Material) -> list[Claim]:
    """Three kinds of net."""
    return claims_on_l2(material, "cnn_colour", "preresnet", "wideresnet")
