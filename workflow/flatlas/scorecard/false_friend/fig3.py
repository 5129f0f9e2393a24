"""Figure 3: L2 on MNIST."""

from flatlas.evidence.material import Material
from flatlas.scorecard.claims import Claim
from flatlas.scorecard.false_friend.grid import claims_on_l2


def judge(material: Material) -> list[Claim]:
    """Three kinds of net."""
    return claims_on_l2(material, "logistic", "mlp", "cnn")
