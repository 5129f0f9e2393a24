"""Figure S4: Eq. 11 is accurate, and the gap follows the test error."""

import numpy as np

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, RISING
from flatlas.studies.duality.trends import pooled
from flatlas.claims.nets import Nets
from flatlas.statistics.means import mean


def judge(material: Material) -> list[Claim]:
    """Panels A and B, over every net."""
    nets = Nets(material)
    direct, dual, error = (
        nets.read("hidden_summary", column) for column in ("pairwise_gap", "dual_gap", "test_error")
    )
    return [
        nets.claim(
            "diagonal",
            "ΔL by Eq. 11 equals the pair-wise gap",
            "relative deviation of ΔL from the gap measured directly, up or down; mean over nets",
            BARELY_OFF,
            lambda deviation: mean(mean(deviation), -1),
            np.abs(dual / direct - 1),
        ),
        nets.claim(
            "test_error",
            "the test error is highly correlated with ΔL",
            "rank correlation of the test error with ΔL over all nets",
            RISING,
            pooled,
            error,
            dual,
        ),
    ]
