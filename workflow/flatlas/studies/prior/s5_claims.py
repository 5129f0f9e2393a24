"""Figure S5: the ascent has converged, and L-BFGS-B finds the same sharpness."""

import numpy as np

from flatlas.evidence.material import ZERO_ERROR, Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, SATURATED, TIGHT
from flatlas.claims.correlations import Pair, correlated, flatness
from flatlas.claims.nets import Nets
from flatlas.statistics.means import mean


def judge(material: Material) -> list[Claim]:
    """Panel A by the last half of the ascent, panel B net by net."""
    nets = Nets(material, "sgd")
    by_sgd, by_lbfgs = (
        nets.read(f"{name}_summary", "sharpness", at=ZERO_ERROR) for name in ("sharpness", "lbfgs")
    )
    pair = Pair(flatness(nets), flatness(nets, "lbfgs"), "flatness by both searches")
    says = "L-BFGS-B finds similar sharpness"
    return [
        nets.claim(
            "converged",
            "the ascent that finds the sharpness has converged",
            "relative rise of the loss found, from half of the ascent to its end; mean over nets",
            SATURATED,
            lambda rise: mean(mean(rise), -1),
            _late_rise(nets),
        ),
        nets.claim(
            "similar",
            says,
            "relative deviation of the sharpness by L-BFGS-B, up or down; mean over nets",
            BARELY_OFF,
            lambda deviation: mean(mean(deviation), -1),
            np.abs(by_lbfgs / by_sgd - 1),
            settled=pair.settled,
        ),
        *correlated(nets, "similar", says, TIGHT, pair),
    ]


def _late_rise(nets: Nets) -> np.ndarray:
    """(realizations, values)."""
    found = nets.read("sharpness_ascent", "value", "epoch_of_ascent", at=ZERO_ERROR)
    if not found.shape[-1]:
        return found[..., 0:0].sum(-1) * np.nan
    start, half, end = (found[..., place] for place in (0, found.shape[-1] // 2, -1))
    return (end - half) / (half - start)
