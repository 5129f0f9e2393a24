"""Figure S8: the sharpness of Figure 5 in a larger box, above all before zero error.

Claims: Figure S8: in a larger box the sharpness does not fluctuate before zero error.
"""

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, LESS
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.statistics.means import mean
from flatlas.studies.prior.along import PRIOR, SHARPNESS, WIDE, CloseUp, draw_along
from flatlas.studies.prior.along_claims import ASCENT_TABLE, WIDE_TABLE, approach
from flatlas.studies.prior.extremes import largest

BEFORE = CloseUp("since_zero_error", -200, 20, "epochs after zero error")


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness, in the box of Figure 5 and in the larger one."""
    return draw_along(material, (PRIOR, SHARPNESS, WIDE), BEFORE)


def claims(material: Material) -> list[Claim]:
    """The fluctuations in the larger box, and those of Figure 5 beside them.

    Both by the paper's ascent, of which they may be an artefact; whether it converged is counted.
    The fresh weights are no part of them: the way from there is the steepest of all.
    """
    nets = Nets(material, "scaled")
    small, large = (
        fluctuation(approach(nets, table, "sharpness")[:, 1:])
        for table in (ASCENT_TABLE, WIDE_TABLE)
    )
    settled = [approach(nets, table, "converged")[:, 1:] for table in (WIDE_TABLE, ASCENT_TABLE)]
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
