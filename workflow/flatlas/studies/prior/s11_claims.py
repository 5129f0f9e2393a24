"""Figure S11: overtraining with SGD changes no correlation, of the prior or of sharpness."""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.studies.prior.overtraining_claims import CORNERS, judge_overtrained


def judge(material: Material) -> list[Claim]:
    """The prior, and flatness."""
    return judge_overtrained(material, "sgd", CORNERS)
