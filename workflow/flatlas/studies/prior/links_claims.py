"""Not in the paper: whether it matters which link the prior has."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import TIGHT
from flatlas.claims.correlations import Pair, correlated, log_prior
from flatlas.claims.nets import Nets


def judge(material: Material) -> list[Claim]:
    """The paper's text has the hard sign, its program the probit link."""
    nets = Nets(material, "sgd")
    pair = Pair(log_prior(nets), log_prior(nets, "heaviside"), "log10 P(f) by either link")
    says = "the hard sign and the probit link tell the same of P(f)"
    return ours(correlated(nets, "same", says, TIGHT, pair))
