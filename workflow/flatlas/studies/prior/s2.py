"""Figure S2: sharpness and the spectral norm of the Hessian go together."""

from collections.abc import Iterator

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import CORRELATED
from flatlas.claims.correlations import Pair, correlated
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.quantities import CORNERS_FLATNESS, FLATNESS, NORM_FLATNESS
from flatlas.studies.prior.systems import OPTIMIZERS, SYSTEMS, called, draw_systems, pooling


def draw(material: Material) -> Drawing:
    """A column for each system or optimizer; sharpness by the paper's ascent, and by corners."""
    rows = [(NORM_FLATNESS, FLATNESS), (NORM_FLATNESS, CORNERS_FLATNESS)]
    measures = ("sharpness", "corners", "hessian")
    return draw_systems(material, SYSTEMS | OPTIMIZERS, rows, measures)


def claims(material: Material) -> list[Claim]:
    """System by system."""
    return [claim for sweep in material.sweeps for claim in _of(sweep, Nets(material, sweep))]


def _of(sweep: str, nets: Nets) -> Iterator[Claim]:
    # As in Figure 2: the paper's ascent has too little time there.
    flatness = CORNERS_FLATNESS if sweep == "boolean" else FLATNESS
    x, y = flatness.measured(nets), NORM_FLATNESS.measured(nets)
    pair = Pair(x, y, "log sharpness with the log spectral norm")
    says = f"sharpness correlates with the spectral norm: {called(sweep)}"
    return correlated(nets, sweep, says, CORRELATED, pair, pooling(sweep))
