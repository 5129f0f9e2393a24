"""Flatness against P(f) of Boolean functions, each of which is a realization."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import CORRELATED
from flatlas.claims.correlations import Pair, correlated, flatness, log_prior
from flatlas.claims.nets import Nets
from flatlas.statistics.pooling import over_all_nets


def judge_boolean(material: Material, called: str, measure: str, column: str) -> list[Claim]:
    """Minus log10 of what is measured, against log10 P(f)."""
    nets = Nets(material, "boolean")
    pair = Pair(
        log_prior(nets, "boolean_prior"),
        flatness(nets, measure, column),
        f"log10 P(f) with {called}",
    )
    says = f"P(f) of Boolean functions correlates with {called}"
    return list(correlated(nets, "boolean", says, CORRELATED, pair, over_all_nets))
