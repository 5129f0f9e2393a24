"""Figure S8: in a larger box the sharpness does not fluctuate before zero error."""

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, LESS
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.statistics.extremes import largest
from flatlas.statistics.means import mean
from flatlas.studies.prior.along import (
    CORNERS,
    PRIOR,
    SHARPNESS,
    WIDE,
    WIDE_CORNERS,
    CloseUp,
    draw_along,
)
from flatlas.studies.prior.course import approach

BEFORE = CloseUp("since_zero_error", -200, 20, "epochs after zero error")


def draw(material: Material) -> Drawing:
    """A: log P(f). C, E: log sharpness in the box of Figure 5. G, I: in the larger one."""
    return draw_along(material, (PRIOR, SHARPNESS, CORNERS, WIDE, WIDE_CORNERS), BEFORE)


def claims(material: Material) -> list[Claim]:
    """The fluctuations in the larger box, alone and compared with those of Figure 5.

    The initial weights are left out, because the curve is steepest there.
    """
    nets = Nets(material, "scaled")
    wide, narrow = (approach(nets, quantity) for quantity in (WIDE_CORNERS, CORNERS))
    large, small = (fluctuation(logs.values[:, 1:]) for logs in (wide, narrow))
    settled = [logs.settled[:, 1:] for logs in (wide, narrow)]
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
            "that distance with the larger ε, minus that with the ε of Figure 5; mean over nets",
            LESS,
            mean,
            large - small,
            settled=settled,
        ),
    ]


def fluctuation(logs: np.ndarray) -> np.ndarray:
    """The largest distance of a value from the mean of its two neighbours, along the last axis.

    A course that rises or falls steadily has none.
    """
    neighbours = (logs[..., :-2] + logs[..., 2:]) / 2
    return largest(np.abs(logs[..., 1:-1] - neighbours))
