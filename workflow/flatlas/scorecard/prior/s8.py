"""Figure S8: in a larger box the sharpness has no bump before zero error."""

import numpy as np

from flatlas.evidence.material import Material
from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import BARELY_OFF, LESS
from flatlas.scorecard.nets import Nets
from flatlas.scorecard.prior.along import ASCENT, WIDE, approach
from flatlas.scorecard.prior.extremes import largest, smallest
from flatlas.statistics.means import mean


def judge(material: Material) -> list[Claim]:
    """The bump in the larger box, and that of Figure 5 beside it.

    Both by the paper's ascent: before zero error the loss is steep enough for it, and whether it
    converged in the larger box too is counted.
    """
    nets = Nets(material, "scaled")
    small, large = (bump(approach(nets, table, "sharpness")) for table in (ASCENT, WIDE))
    settled = [approach(nets, table, "converged") for table in (WIDE, ASCENT)]
    return [
        nets.claim(
            "none",
            "with a larger ε, the sharpness has no bump before zero error",
            "largest rise of log10 sharpness above an earlier value before zero error, relative to"
            " the whole range it goes through until then; mean over nets",
            BARELY_OFF,
            mean,
            large,
            settled=settled[:1],
        ),
        nets.claim(
            "smaller",
            "the bump disappears with a larger ε",
            "that rise with the larger ε, less that with the ε of Figure 5; mean over nets",
            LESS,
            mean,
            large - small,
            settled=settled,
        ),
    ]


def bump(sharpness: np.ndarray) -> np.ndarray:
    """How far a falling course rises again: the largest rise above the lowest value so far.

    In logarithms, along the last axis, in units of the whole range.
    """
    logs = np.log10(np.where(sharpness > 0, sharpness, np.nan))
    risen = largest(logs - np.fmin.accumulate(logs, axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(risen / (largest(logs) - smallest(logs)))
