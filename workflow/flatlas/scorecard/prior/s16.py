"""Figure S16: overtraining with Adam changes no correlation, of the prior or of eigenvalues."""

from flatlas.evidence.material import Material
from flatlas.scorecard.claims import Claim
from flatlas.scorecard.prior.overtraining import TOP, judge_overtrained


def judge(material: Material) -> list[Claim]:
    """The prior, and flatness."""
    return judge_overtrained(material, "adam", TOP)
