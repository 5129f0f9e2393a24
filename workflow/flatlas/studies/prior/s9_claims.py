"""Figure S9: long after the α-scaling the sharpness is where it would have been without."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.nets import Nets
from flatlas.studies.prior.along_claims import (
    CORNERS,
    course,
    log_prior,
    logarithm,
    rejoins,
    returns,
    spikes,
    untouched,
)


def judge(material: Material) -> list[Claim]:
    """As of Figure 5, and that the curve goes on as before."""
    nets = Nets(material, "scaled_long")
    prior, sharpness = log_prior(nets), logarithm(course(nets, CORNERS, "sharpness"))
    return [
        spikes(nets, "sharpness", "the sharpness", sharpness),
        rejoins(nets, sharpness),
        untouched(nets, prior),
        returns(nets, prior),
    ]
