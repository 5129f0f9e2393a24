"""Figure S3: Boolean functions that are likely have small Hessians."""

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.prior.boolean import judge_boolean
from flatlas.store.material import Material


def judge(material: Material) -> list[Claim]:
    """Over all functions."""
    return judge_boolean(material, "a small spectral norm", "hessian", "spectral_norm")
