"""Figure S12: overtraining with Adam changes no correlation, of the prior or of sharpness."""

from flatlas.evidence.material import Material
from flatlas.scorecard.claims import Claim
from flatlas.scorecard.prior.overtraining import CORNERS, judge_overtrained


def judge(material: Material) -> list[Claim]:
    """The prior, and flatness."""
    return judge_overtrained(material, "adam", CORNERS)
