"""Figure S13: overtraining with SGD changes no correlation, of prior or spectral norm."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.studies.prior.overtraining_claims import NORM, judge_overtrained


def judge(material: Material) -> list[Claim]:
    """The prior, and flatness."""
    return judge_overtrained(material, "sgd", NORM)
