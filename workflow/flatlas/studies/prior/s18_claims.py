"""Figure S18: three more optimizers break the correlation of flatness, full batches do not."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.studies.prior.systems_claims import broken_flatness, correlated_flatness, tight_prior

ADAPTIVE = ("adagrad", "momentum", "rmsprop")


def judge(material: Material) -> list[Claim]:
    """The upper row, then the lower."""
    return [
        *(claim for one in (*ADAPTIVE, "full_batch") for claim in tight_prior(material, one)),
        *(claim for one in ADAPTIVE for claim in broken_flatness(material, one)),
        *correlated_flatness(material, "full_batch"),
    ]
