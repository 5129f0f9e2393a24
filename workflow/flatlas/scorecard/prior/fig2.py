"""Figure 2: Boolean functions that are likely are found in flat places."""

from flatlas.evidence.material import Material
from flatlas.scorecard.claims import Claim
from flatlas.scorecard.prior.boolean import judge_boolean


def judge(material: Material) -> list[Claim]:
    """Over all functions."""
    return judge_boolean(material, "flatness", "sharpness", "sharpness")
