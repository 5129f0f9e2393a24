"""Figure 5: decentralized learners (DPSGD) against synchronized ones (SSGD)."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.studies.duality.learners_claims import judge_learners


def judge(material: Material) -> list[Claim]:
    """The text's test errors, and panels A-C."""
    return judge_learners(material, "learners", "hidden", "2.3 % against 2.6 %: −0.3")
