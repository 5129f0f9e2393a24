"""Figure S19: many training images show the same, and the prior correlates tighter."""

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import TIGHTER
from flatlas.claims.correlations import compared
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.quantities import LOG_PRIOR
from flatlas.studies.prior.scatter import PRIOR_AND_FLATNESS
from flatlas.studies.prior.systems import (
    SYSTEMS,
    beside,
    draw_systems,
    scattered_flatness,
    tight_prior,
)

MANY, FEW = "many_images", "sgd"


def draw(material: Material) -> Drawing:
    """A column for each size of S; the prior above, flatness below."""
    return draw_systems(material, SYSTEMS, PRIOR_AND_FLATNESS)


def claims(material: Material) -> list[Claim]:
    """The sweep with many images, by itself and against the sweep of Figure 3."""
    called = {MANY: "with many images", FEW: "with few images"}
    nets, many, few = beside(material, LOG_PRIOR, called)
    says = "with more training images P(f) correlates tighter with generalization"
    return [
        *tight_prior(material, MANY),
        *scattered_flatness(material, MANY),
        *compared(nets, "tighter", says, TIGHTER, many, few),
    ]
