"""Figure S15: overtraining with SGD changes no correlation, of the prior or of eigenvalues."""

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.prior.overtraining import PRODUCT, judge_overtrained
from flatlas.store.material import Material


def judge(material: Material) -> list[Claim]:
    """Both rows."""
    return judge_overtrained(material, "sgd", PRODUCT)
