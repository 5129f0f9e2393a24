"""Figure 3's claims, of the convolutional net on CIFAR-10."""

from flatlas.evidence.material import Material
from flatlas.scorecard.claims import Claim
from flatlas.scorecard.duality.fig3 import judge_sweeps


def judge(material: Material) -> list[Claim]:
    """The paper says that its results on CIFAR-10 are alike, and does not show them."""
    return judge_sweeps(material, "cifar_alpha", "cifar_batch")
