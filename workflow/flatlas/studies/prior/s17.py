"""Figure S17: under Adam a residual net has a tight prior too, and looser flatness."""

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import TIGHTER
from flatlas.claims.correlations import compared
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.quantities import FLATNESS
from flatlas.studies.prior.scatter import PRIOR_AND_FLATNESS
from flatlas.studies.prior.systems import (
    SYSTEMS,
    beside,
    draw_systems,
    looser_flatness,
    tight_prior,
)

RESIDUAL, DENSE = "residual_adam", "adam"


def draw(material: Material) -> Drawing:
    """The prior above, flatness below, of both nets under Adam."""
    return draw_systems(material, SYSTEMS | {DENSE: "FCN, Adam"}, PRIOR_AND_FLATNESS)


def claims(material: Material) -> list[Claim]:
    """Both rows, and flatness against that of the fully connected net of Figure 4."""
    called = {RESIDUAL: "for the residual net", DENSE: "for the fully connected net"}
    nets, residual, dense = beside(material, FLATNESS, called)
    says = "under Adam, flatness is better for the residual net than for the fully connected one"
    return [
        *tight_prior(material, RESIDUAL),
        *looser_flatness(material, RESIDUAL),
        *compared(nets, "better", says, TIGHTER, residual, dense),
    ]
