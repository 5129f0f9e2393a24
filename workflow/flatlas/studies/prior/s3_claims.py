"""Figure S3: Boolean functions that are likely have small Hessians."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.studies.prior.boolean_claims import judge_boolean


def judge(material: Material) -> list[Claim]:
    """Over all functions."""
    return judge_boolean(material, "a small spectral norm", "hessian", "spectral_norm")
