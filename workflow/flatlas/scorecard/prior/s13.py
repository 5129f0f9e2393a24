"""Figure S13: overtraining with SGD changes no correlation, of prior or spectral norm."""

from flatlas.evidence.material import Material
from flatlas.scorecard.claims import Claim
from flatlas.scorecard.prior.overtraining import NORM, judge_overtrained


def judge(material: Material) -> list[Claim]:
    """The prior, and flatness."""
    return judge_overtrained(material, "sgd", NORM)
