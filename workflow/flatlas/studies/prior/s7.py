"""Figure S7: flatness goes with the prior for SGD, and not for Adam and Entropy-SGD."""

from collections.abc import Iterator

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BROKEN, CORRELATED
from flatlas.claims.correlations import correlated
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.quantities import FLATNESS, LOG_PRIOR, paired
from flatlas.studies.prior.systems import BREAKING, OPTIMIZERS, SYSTEMS, called, draw_systems


def draw(material: Material) -> Drawing:
    """A panel for each system or optimizer."""
    return draw_systems(material, SYSTEMS | OPTIMIZERS, [(LOG_PRIOR, FLATNESS)])


def claims(material: Material) -> list[Claim]:
    """System by system."""
    return [claim for sweep in material.sweeps for claim in _of(sweep, Nets(material, sweep))]


def _of(sweep: str, nets: Nets) -> Iterator[Claim]:
    breaks = sweep in BREAKING
    verb, criteria = ("does not correlate", BROKEN) if breaks else ("correlates", CORRELATED)
    says = f"flatness {verb} with P(f): {called(sweep)}"
    return correlated(nets, sweep, says, criteria, paired(nets, FLATNESS, LOG_PRIOR))
