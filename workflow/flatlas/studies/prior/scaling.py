"""An α-scaling long after zero error: what it does to the prior, the sharpness and the errors."""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, JUMPS, MORE
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.statistics.means import mean
from flatlas.studies.prior.along_claims import (
    CORNERS_TABLE,
    IN_RANGES,
    PRIOR_TABLE,
    Course,
    course,
    jumped,
    log_prior,
    logarithm,
    relaxes,
    returns,
    spikes,
    unit_settled,
    untouched,
)
from flatlas.studies.prior.extremes import largest


def judge_scaling(material: Material, sweep: str) -> list[Claim]:
    """The scaling, and what comes after it."""
    nets = Nets(material, sweep)
    prior, error = log_prior(nets), course(nets, PRIOR_TABLE, "train_error")
    sharpness = logarithm(course(nets, CORNERS_TABLE, "sharpness"))
    return [
        spikes(nets, "sharpness", "the sharpness", sharpness),
        relaxes(nets, "sharpness", "the sharpness", sharpness),
        untouched(nets, prior),
        *_off_zero_error(nets, prior, error),
        returns(nets, prior),
    ]


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
        prior.rise,
        settled=settled,
    )
    yield nets.claim(
        "prior_at_zero_error",
        "it does so only because SGD falls off zero error",
        "largest change of log10 P(f) after the α-scaling, up or down, at epochs without errors on"
        f" S, if it jumps at others, {IN_RANGES}",
        BARELY_OFF,
        mean,
        largest(np.where(error.later == 0, np.abs(risen), np.nan)) * jumped(prior.rise),
        settled=settled,
    )
