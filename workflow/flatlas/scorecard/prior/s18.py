"""Figure S18: three more optimizers break the correlation of flatness, full batches do not."""

from flatlas.evidence.material import Material
from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import CORRELATED
from flatlas.scorecard.correlations import correlated
from flatlas.scorecard.nets import Nets
from flatlas.scorecard.prior.systems import broken_flatness, flatness_pair, tight_prior

ADAPTIVE = ("adagrad", "momentum", "rmsprop")


def judge(material: Material) -> list[Claim]:
    """The upper row, then the lower."""
    nets = Nets(material, "full_batch")
    says = "flatness correlates with generalization under full-batch gradient descent"
    return [
        *(claim for one in (*ADAPTIVE, "full_batch") for claim in tight_prior(material, one)),
        *(claim for one in ADAPTIVE for claim in broken_flatness(material, one)),
        *correlated(nets, "flatness_full_batch", says, CORRELATED, flatness_pair(nets)),
    ]
