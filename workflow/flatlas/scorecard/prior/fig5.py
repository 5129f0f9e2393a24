"""Figure 5: prior and sharpness along training, and the α-scaling that leaves zero error."""

from collections.abc import Iterator

import numpy as np

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import BARELY_OFF, JUMPS, LESS, MORE, NEAR_EPOCH_140
from flatlas.scorecard.nets import Nets
from flatlas.scorecard.prior.along import (
    PRIOR,
    SHARPNESS,
    Course,
    approach,
    constant,
    course,
    falls,
    largest,
    logarithm,
    relative,
    relaxes,
    returns,
    spikes,
    untouched,
)
from flatlas.statistics.means import mean
from flatlas.store.material import Material


def judge(material: Material) -> list[Claim]:
    """From the fresh weights to zero error, from there to the scaling, and after it."""
    nets = Nets(material, "scaled")
    prior, error = course(nets, PRIOR, "log10_p"), course(nets, PRIOR, "train_error")
    sharpness = logarithm(course(nets, SHARPNESS, "sharpness"))
    return [
        *_until_zero_error(nets),
        constant(nets, prior),
        falls(nets, "sharpness", "the sharpness", sharpness),
        falls(nets, "loss", "the loss on S", logarithm(course(nets, SHARPNESS, "loss"))),
        spikes(nets, "sharpness", "the sharpness", sharpness),
        relaxes(nets, "sharpness", "the sharpness", sharpness),
        untouched(nets, prior),
        *_off_zero_error(nets, prior, error),
        returns(nets, prior),
    ]


def _until_zero_error(nets: Nets) -> Iterator[Claim]:
    yield nets.claim(
        "zero_error",
        "zero error is reached near epoch 140",
        "epoch at which zero error is first reached; mean over nets",
        NEAR_EPOCH_140,
        mean,
        nets.read("outcomes", "met_epoch")[:, 0],
        paper="140",
    )
    measured = {
        "prior": ("P(f)", approach(nets, PRIOR, "log10_p")),
        "sharpness": ("the sharpness", _logs(approach(nets, SHARPNESS, "sharpness"))),
    }
    for name, (says, logs) in measured.items():
        yield nets.claim(
            f"{name}_before",
            f"until zero error, {says} falls",
            f"change of log10 of {says} from the fresh weights to zero error; mean over nets",
            LESS,
            mean,
            logs[:, -1] - logs[:, 0],
        )


def _off_zero_error(nets: Nets, prior: Course, error: Course) -> Iterator[Claim]:
    """That the prior jumps, and that it does so for no other reason."""
    risen = relative(prior.later, prior.unscaled)
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
        "largest rise of log10 P(f) after the α-scaling, relative to its value just before; mean"
        " over nets",
        JUMPS,
        mean,
        largest(risen),
    )
    yield nets.claim(
        "prior_at_zero_error",
        "it does so only because SGD falls off zero error",
        "largest relative change of log10 P(f) after the α-scaling, up or down, at epochs without"
        " errors on S; mean over nets",
        BARELY_OFF,
        mean,
        largest(np.where(error.later == 0, np.abs(risen), np.nan)),
    )


def _logs(values: np.ndarray) -> np.ndarray:
    return np.log10(np.where(values > 0, values, np.nan))
