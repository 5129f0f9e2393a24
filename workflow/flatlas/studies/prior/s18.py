"""Figure S18: three more optimizers break the correlation of flatness, full batches do not."""

from flatlas.claims.claim import Claim
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.scatter import PRIOR_AND_FLATNESS
from flatlas.studies.prior.systems import (
    OPTIMIZERS,
    broken_flatness,
    correlated_flatness,
    draw_systems,
    tight_prior,
)

ADAPTIVE = ("adagrad", "momentum", "rmsprop")


def draw(material: Material) -> Drawing:
    """A column for each optimizer; the prior above, flatness below."""
    return draw_systems(material, OPTIMIZERS, PRIOR_AND_FLATNESS)


def claims(material: Material) -> list[Claim]:
    """The upper row, then the lower."""
    return [
        *(claim for one in (*ADAPTIVE, "full_batch") for claim in tight_prior(material, one)),
        *(claim for one in ADAPTIVE for claim in broken_flatness(material, one)),
        *correlated_flatness(material, "full_batch"),
    ]
