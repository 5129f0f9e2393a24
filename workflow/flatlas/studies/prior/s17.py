"""Figure S17: prior and flatness against generalization, for a residual net under Adam.

Claims: Figure S17: a residual net under Adam has a tight prior too, and looser flatness.
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
    flatness_pair,
    looser_flatness,
    tight_prior,
)

RESIDUAL, DENSE = "residual_adam", "adam"


def draw(material: Material) -> Drawing:
    """The prior above, flatness below, of both nets under Adam."""
    return draw_systems(material, SYSTEMS | {"adam": "FCN, Adam"}, PRIOR_AND_FLATNESS)


def claims(material: Material) -> list[Claim]:
    """Both rows, and flatness against that of the fully connected net of Figure 4."""
    nets, residual, dense = beside(
        material,
        flatness_pair,
        {RESIDUAL: "for the residual net", DENSE: "for the fully connected net"},
    )
    says = "under Adam, flatness is better for the residual net than for the fully connected one"
    return [
        *tight_prior(material, RESIDUAL),
        *looser_flatness(material, RESIDUAL),
        *compared(nets, "better", says, TIGHTER, residual, dense),
    ]
