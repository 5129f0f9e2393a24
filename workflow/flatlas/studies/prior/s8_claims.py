"""Figure S8: in a larger box the sharpness does not fluctuate before zero error."""

import numpy as np

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, LESS
from flatlas.claims.nets import Nets
from flatlas.studies.prior.along_claims import ASCENT, WIDE, approach
from flatlas.studies.prior.extremes import largest
from flatlas.statistics.means import mean


def judge(material: Material) -> list[Claim]:
    """The fluctuations in the larger box, and those of Figure 5 beside them.

    Both by the paper's ascent, of which they may be an artefact; whether it converged is counted.
    The fresh weights are no part of them: the way from there is the steepest of all.
    """
    nets = Nets(material, "scaled")
    small, large = (
        fluctuation(approach(nets, table, "sharpness")[:, 1:]) for table in (ASCENT, WIDE)
    )
    settled = [approach(nets, table, "converged")[:, 1:] for table in (WIDE, ASCENT)]
    return [
        nets.claim(
            "none",
            "with a larger ε, the sharpness does not fluctuate before zero error",
            "largest distance of log10 sharpness from the mean of those at the moments before and"
            " after, until zero error; mean over nets",
            BARELY_OFF,
            mean,
            large,
            settled=settled[:1],
        ),
        nets.claim(
            "smaller",
            "the fluctuations before zero error are smaller with a larger ε",
            "that distance with the larger ε, less that with the ε of Figure 5; mean over nets",
            LESS,
            mean,
            large - small,
            settled=settled,
        ),
    ]


def fluctuation(sharpness: np.ndarray) -> np.ndarray:
    """How far a course is from smooth where it is least: from the mean of two neighbours.

    In logarithms, along the last axis. A course that rises or falls steadily is smooth.
    """
    logs = np.log10(np.where(sharpness > 0, sharpness, np.nan))
    neighbours = (logs[..., :-2] + logs[..., 2:]) / 2
    return largest(np.abs(logs[..., 1:-1] - neighbours))
