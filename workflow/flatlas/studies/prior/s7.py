"""Figure S7: flatness against the prior, for all systems of Figures 3 and 4.

Claims: Figure S7: flatness goes with the prior for SGD, and not for Adam and Entropy-SGD.
"""

from collections.abc import Iterator, Mapping

from flatlas.claims.claim import Claim, Criterion
from flatlas.claims.conventions import BROKEN, CORRELATED
from flatlas.claims.correlations import Pair, correlated, flatness, log_prior
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.scatter import FLATNESS, LOG_PRIOR, OPTIMIZERS, SYSTEMS
from flatlas.studies.prior.systems import draw_systems
from flatlas.studies.prior.systems_claims import called, drawn

BREAKING = ("adam", "entropy_sgd")


def draw(material: Material) -> Drawing:
    """A panel a system or optimizer."""
    return draw_systems(material, SYSTEMS | OPTIMIZERS, [(LOG_PRIOR, FLATNESS)])


def claims(material: Material) -> list[Claim]:
    """System by system."""
    return [
        claim
        for sweep in drawn(material)
        for verb, criteria in [
            ("does not correlate", BROKEN) if sweep in BREAKING else ("correlates", CORRELATED)
        ]
        for claim in _of(sweep, Nets(material, sweep), verb, criteria)
    ]


def _of(sweep: str, nets: Nets, verb: str, criteria: Mapping[str, Criterion]) -> Iterator[Claim]:
    pair = Pair(flatness(nets), log_prior(nets), "flatness with log10 P(f)")
    says = f"flatness {verb} with P(f): {called(sweep)}"
    return correlated(nets, sweep, says, criteria, pair)
