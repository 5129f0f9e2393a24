"""Figure S19: prior and flatness against generalization, with many more training images.

Claims: Figure S19: many training images show the same, and the prior goes tighter.
"""

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import TIGHTER
from flatlas.claims.correlations import compared
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.scatter import PRIOR_AND_FLATNESS, SYSTEMS
from flatlas.studies.prior.systems import draw_systems
from flatlas.studies.prior.systems_claims import (
    beside,
    prior_pair,
    scattered_flatness,
    tight_prior,
)

MANY, FEW = "many_images", "sgd"


def draw(material: Material) -> Drawing:
    """A column a size of S; the prior above, flatness below."""
    return draw_systems(material, SYSTEMS, PRIOR_AND_FLATNESS)


def claims(material: Material) -> list[Claim]:
    """By themselves, and against the sweep of Figure 3."""
    nets, many, few = beside(
        material, prior_pair, {MANY: "with many images", FEW: "with few images"}
    )
    says = "with more training images P(f) correlates tighter with generalization"
    return [
        *tight_prior(material, MANY),
        *scattered_flatness(material, MANY),
        *compared(nets, "tighter", says, TIGHTER, many, few),
    ]
