"""Figure S2: sharpness and the spectral norm of the Hessian.

Claims: Figure S2: sharpness and the spectral norm go together.
"""

from collections.abc import Iterator

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import CORRELATED
from flatlas.claims.correlations import Pair, correlated, flatness
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.scatter import CORNERS, FLATNESS, NORM_FLATNESS, OPTIMIZERS, SYSTEMS
from flatlas.studies.prior.systems import draw_systems
from flatlas.studies.prior.systems_claims import called, drawn, pooling


def draw(material: Material) -> Drawing:
    """A column a system or optimizer; sharpness by the paper's ascent, and by corners."""
    rows = [(NORM_FLATNESS, FLATNESS), (NORM_FLATNESS, CORNERS)]
    measures = ("sharpness", "corners", "hessian")
    return draw_systems(material, SYSTEMS | OPTIMIZERS, rows, measures)


def claims(material: Material) -> list[Claim]:
    """System by system."""
    return [claim for sweep in drawn(material) for claim in _of(sweep, Nets(material, sweep))]


def _of(sweep: str, nets: Nets) -> Iterator[Claim]:
    norm = flatness(nets, "hessian", "spectral_norm")
    # As of Figure 2: the paper's ascent has too little time there.
    by = "corners" if sweep == "boolean" else "sharpness"
    pair = Pair(flatness(nets, by), norm, "log sharpness with the log spectral norm")
    says = f"sharpness correlates with the spectral norm: {called(sweep)}"
    return correlated(nets, sweep, says, CORRELATED, pair, pooling(sweep))
