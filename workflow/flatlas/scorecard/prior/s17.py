"""Figure S17: a residual net under Adam has a tight prior too, and looser flatness."""

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.prior.systems import looser_flatness, tight_prior
from flatlas.store.material import Material

SWEEP = "residual_adam"


def judge(material: Material) -> list[Claim]:
    """Both rows."""
    return [*tight_prior(material, SWEEP), *looser_flatness(material, SWEEP)]
