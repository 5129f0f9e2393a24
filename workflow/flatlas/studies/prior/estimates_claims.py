"""Not in the paper, which trusts expectation propagation: how far it is from the exact prior."""

import numpy as np

from flatlas.evidence.material import ZERO_ERROR, Material
from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import BARELY_OFF
from flatlas.claims.nets import Nets
from flatlas.studies.prior.extremes import largest
from flatlas.statistics.means import mean


def judge(material: Material) -> list[Claim]:
    """Net by net, at the number of points at which it is farthest off."""
    nets = Nets(material, "estimates")
    exact, estimated, by_ep, by_tilting = (
        nets.read("estimates_summary", column, "size", at=ZERO_ERROR)
        for column in ("log10_p_tilting", "log10_p_ep", "converged_ep", "converged_tilting")
    )
    near = nets.claim(
        "near",
        "expectation propagation gives log P(f)",
        "largest deviation of log10 P(f) by expectation propagation from its exact value, up"
        " or down; mean over nets",
        BARELY_OFF,
        lambda deviation: mean(mean(deviation), -1),
        largest(np.abs(estimated - exact)),
        settled=(by_ep, by_tilting),
    )
    return ours([near])
