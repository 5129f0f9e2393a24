"""Figure 2: Boolean functions that are likely are found in flat places."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.studies.prior.boolean_claims import judge_boolean


def judge(material: Material) -> list[Claim]:
    """Over all functions, by corners: the paper's ascent has too little time in ten epochs."""
    return judge_boolean(material, "flatness by corners", "corners", "sharpness")
