"""Figure S9: long after the α-scaling the sharpness is where it would have been without."""

import numpy as np

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import BARELY
from flatlas.scorecard.nets import Nets
from flatlas.scorecard.prior.along import (
    PRIOR,
    SHARPNESS,
    Course,
    course,
    logarithm,
    returns,
    share_left,
    spiked,
    spikes,
    untouched,
)
from flatlas.statistics.power_law import power_law
from flatlas.store.material import Material


def judge(material: Material) -> list[Claim]:
    """As of Figure 5, and that the curve goes on as before."""
    nets = Nets(material, "scaled_long")
    prior, sharpness = course(nets, PRIOR, "log10_p"), course(nets, SHARPNESS, "sharpness")
    above = above_trend(sharpness, nets.read("outcomes", "met_epoch")[:, :1])
    return [
        spikes(nets, "sharpness", "the sharpness", logarithm(sharpness)),
        nets.claim(
            "rejoins",
            "after enough overtraining the effect of the α-scaling disappears: the sharpness goes"
            " on as before it",
            "share of the spike, in log10 of the sharpness above the power law (in the epoch) of"
            " before the α-scaling, that is left at the end; ratio of means",
            BARELY,
            share_left,
            above.end,
            spiked(above.scaled),
        ),
        untouched(nets, prior),
        returns(nets, prior),
    ]


def above_trend(sharpness: Course, met: np.ndarray) -> Course:
    """How far log10 sharpness is above the power law in the epoch that it followed till scaled.

    `met` is the epoch of zero error of each realization, (realizations, 1).
    """
    epochs = met + sharpness.epochs
    slope, intercept = power_law(epochs[:, sharpness.epochs < sharpness.scaling], sharpness.before)
    trend = intercept[:, np.newaxis] + slope[:, np.newaxis] * np.log10(epochs)
    logs = logarithm(sharpness)
    return Course(logs.epochs, logs.values - trend, logs.scaling)
