"""Figure 5: prior and sharpness along training, and the α-scaling that leaves zero error."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import BARELY_OFF, JUMPS, LESS, MORE, NEAR
from flatlas.scorecard.nets import Nets
from flatlas.scorecard.prior.along import (
    ASCENT,
    CORNERS,
    IN_RANGES,
    PRIOR,
    Course,
    approach,
    constant,
    course,
    falls,
    log_prior,
    logarithm,
    relaxes,
    returns,
    spikes,
    unit_settled,
    untouched,
)
from flatlas.scorecard.prior.extremes import largest
from flatlas.statistics.means import mean
from flatlas.store.material import Material

ZERO_ERROR_EPOCH = 140


def judge(material: Material) -> list[Claim]:
    """From the fresh weights to zero error, from there to the scaling, and after it."""
    nets = Nets(material, "scaled")
    prior, error = log_prior(nets), course(nets, PRIOR, "train_error")
    sharpness = logarithm(course(nets, CORNERS, "sharpness"))
    return [
        *_until_zero_error(nets),
        constant(nets, prior),
        falls(nets, "sharpness", "the sharpness", sharpness),
        _loss_falls(nets),
        spikes(nets, "sharpness", "the sharpness", sharpness),
        relaxes(nets, "sharpness", "the sharpness", sharpness),
        untouched(nets, prior),
        *_off_zero_error(nets, prior, error),
        returns(nets, prior),
    ]


def _until_zero_error(nets: Nets) -> Iterator[Claim]:
    yield nets.claim(
        "zero_error",
        f"zero error is reached near epoch {ZERO_ERROR_EPOCH}",
        "epoch at which zero error is first reached, relative to the paper's, less 1; mean over"
        " nets",
        NEAR,
        mean,
        nets.read("outcomes", "met_epoch")[:, 0] / ZERO_ERROR_EPOCH - 1,
        paper=f"{ZERO_ERROR_EPOCH}",
    )
    measured = {
        "prior": ("P(f)", PRIOR, approach(nets, PRIOR, "log10_p")),
        "sharpness": ("the sharpness", ASCENT, _logs(approach(nets, ASCENT, "sharpness"))),
    }
    for name, (says, table, logs) in measured.items():
        settled = approach(nets, table, "converged")
        yield nets.claim(
            f"{name}_before",
            f"until zero error, {says} falls",
            f"change of log10 of {says} from the fresh weights to zero error; mean over nets",
            LESS,
            mean,
            logs[:, -1] - logs[:, 0],
            settled=(settled[:, -1], settled[:, 0]),
        )


def _loss_falls(nets: Nets) -> Claim:
    """It takes no search."""
    loss = logarithm(course(nets, CORNERS, "loss"))
    known = replace(loss, searches=np.full_like(loss.values, np.nan))
    return falls(nets, "loss", "the loss on S", known)


def _off_zero_error(nets: Nets, prior: Course, error: Course) -> Iterator[Claim]:
    """That the prior jumps, and that it does so for no other reason."""
    risen = prior.later - prior.unscaled[:, np.newaxis]
    settled = (unit_settled(nets), prior.settled.later, prior.settled.unscaled)
    yield nets.claim(
        "leaves_zero_error",
        "the α-scaling makes SGD fall off zero error",
        "largest error on S after the α-scaling; mean over nets",
        MORE,
        mean,
        largest(error.later),
    )
    yield nets.claim(
        "prior_jumps",
        "the prior then jumps up",
        f"largest rise of log10 P(f) after the α-scaling above its value just before, {IN_RANGES}",
        JUMPS,
        mean,
        largest(risen),
        settled=settled,
    )
    yield nets.claim(
        "prior_at_zero_error",
        "it does so only because SGD falls off zero error",
        "largest change of log10 P(f) after the α-scaling, up or down, at epochs without errors on"
        f" S, {IN_RANGES}",
        BARELY_OFF,
        mean,
        largest(np.where(error.later == 0, np.abs(risen), np.nan)),
        settled=settled,
    )


def _logs(values: np.ndarray) -> np.ndarray:
    return np.log10(np.where(values > 0, values, np.nan))
