"""Whether Figure 3's claims hold of the convolutional net on CIFAR-10."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim, ours
from flatlas.studies.duality.fig3_claims import judge_sweeps


def judge(material: Material) -> list[Claim]:
    """The paper analyzes this net too, and shows and says nothing of it."""
    return ours(judge_sweeps(material, "cifar_alpha", "cifar_batch"))
