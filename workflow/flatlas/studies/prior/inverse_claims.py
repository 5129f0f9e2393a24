"""Not in the paper: what it says of Figure 5, where α divides the first layer."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim, ours
from flatlas.studies.prior.scaling import judge_scaling


def judge(material: Material) -> list[Claim]:
    """The scaling, and what comes after it; what comes before is Figure 5's."""
    return ours(judge_scaling(material, "scaled_inverse"))
