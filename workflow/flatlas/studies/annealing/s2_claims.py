"""Figure S2: outputs are linear along p_1, and along p_1 alone the loss has a slope."""

from collections.abc import Iterator

import numpy as np

from flatlas.evidence.material import Material
from flatlas.studies.annealing.directions import BASE, FIRST, LAST, VALLEY, read
from flatlas.studies.annealing.places import placed
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, MORE, TIGHT
from flatlas.claims.nets import Nets
from flatlas.statistics.correlation import pearson
from flatlas.statistics.means import mean

MARGINS = "first_mode_margins"


def judge(material: Material) -> list[Claim]:
    """Panel A, then B."""
    nets = Nets(placed(material, MARGINS, "label"), BASE)
    return [_linear(nets), *_slopes(nets)]


def _linear(nets: Nets) -> Claim:
    theta, margin = (
        nets.read(MARGINS, name, "label", "place")[:, 0] for name in ("theta", "margin")
    )
    r = pearson(theta, margin)
    least = np.where(
        np.isfinite(r).any(-1), np.where(np.isnan(r), np.inf, r).min(-1, initial=np.inf), np.nan
    )
    return nets.claim(
        "linear",
        "ΔY_k grows linearly with θ_1, for samples of every class",
        "Pearson's coefficient of ΔY with θ_1 between the ends of the valley, of the class with the"
        " least; mean over nets",
        TIGHT["pearson"],
        mean,
        least,
    )


def _slopes(nets: Nets) -> Iterator[Claim]:
    slope, width, settled = (
        read(nets, VALLEY, name, 1, LAST) for name in ("slope", "flatness", "converged")
    )
    steps = slope * width
    yield nets.claim(
        "slope",
        "ln L_1 falls at 0, the way SGD drifts",
        "minus the slope of ln L_1 at 0, times F_1; mean over nets",
        MORE,
        mean,
        -steps[:, 0],
        settled=(settled[:, 0],),
    )
    yield nets.claim(
        "no_slope",
        "along all other directions ln L_i has no slope at 0",
        f"size of the slope times F_i, relative to that of the first direction; mean over"
        f" directions {FIRST} to {LAST} and nets",
        BARELY_OFF,
        mean,
        mean(np.abs(steps[:, 1:]), -1) / np.abs(steps[:, 0]),
        settled=(settled,),
    )
