"""Figure 2: what the formula is the limit of."""

import numpy as np

from flatlas.evidence.material import ZERO_ERROR, Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import LIMIT, RISING
from flatlas.studies.mystery.measured import labels
from flatlas.claims.nets import Nets
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean

TABLE = "true_regret_summary"
# Fewer balls in which all searches converged say nothing of a trend.
ENOUGH = 3


def judge(material: Material) -> list[Claim]:
    """How near the ratio is to 1 in the smallest ball, and whether it gets nearer on the way."""
    nets = Nets(material, "solution")
    radii = np.array(labels(nets, TABLE, "epsilon"), dtype=float)
    ratio, settled = (
        nets.read(TABLE, name, "epsilon", at=ZERO_ERROR)[:, 0] for name in ("ratio", "converged")
    )
    off = ratio - 1
    # A ball beyond one in which a search did not converge tells nothing of the way there.
    known = np.logical_and.accumulate(settled == 1, axis=-1)
    enough = known.sum(-1, keepdims=True) >= ENOUGH
    distance = np.where(known & enough, np.abs(off), np.nan)
    return [
        nets.claim(
            "limit",
            "as ε → 0, R/ε → ‖g₂‖ (1 − cos(g₁, g₂))",
            "true regret over the formula, less 1, in the smallest ball; mean over nets",
            LIMIT,
            mean,
            off[:, 0] if off.size else off,
            settled=(settled[:, 0] if settled.size else settled,),
        ),
        nets.claim(
            "approach",
            "the smaller the ball, the better the formula",
            "rank correlation with ε of how far the ratio is from 1, over the balls up to which"
            " all searches converged; mean over nets",
            RISING,
            mean,
            spearman(radii, distance) if distance.size else distance,
        ),
    ]
