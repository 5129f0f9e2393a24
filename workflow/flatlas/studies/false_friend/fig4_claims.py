"""Figure 4: L2 on colour images."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.studies.false_friend.grid_claims import claims_on_l2


def judge(material: Material) -> list[Claim]:
    """Three kinds of net."""
    return claims_on_l2(material, "cnn_colour", "preresnet", "wideresnet")
