"""An α-scaling long after zero error: claims on the prior, the sharpness and the errors."""

import numpy as np

from flatlas.claims.claim import Claim, Claims, Criterion
from flatlas.claims.conventions import BARELY, BARELY_OFF, DECAYED, JUMPS, LESS, MORE, SOON, SPIKE
from flatlas.claims.nets import Nets
from flatlas.statistics.means import largest, mean
from flatlas.statistics.trends import ratio
from flatlas.studies.prior.along import CORNERS, ERROR
from flatlas.studies.prior.course import IN_RANGES, Course, above_trend, course, prior_in_ranges


def scaling_claims(nets: Nets) -> Claims:
    """The claims about the scaling and what comes after it."""
    sharpness = course(nets, CORNERS)
    yield spikes(nets, "sharpness", sharpness)
    yield relaxes(nets, "sharpness", sharpness)
    yield untouched(nets)
    yield from _off_zero_error(nets)
    yield returns(nets)


def falls(nets: Nets, name: str, logs: Course) -> Claim:
    """The claim that a logarithm falls from zero error to the scaling."""
    return nets.mean_claim(
        f"{name}_falls",
        f"after zero error, {logs.what} goes on falling",
        f"change of log10 of {logs.what} from zero error to just before the α-scaling",
        LESS,
        logs.unscaled - logs.start,
        settled=(logs.settled.unscaled, logs.settled.start),
    )


def spikes(nets: Nets, name: str, logs: Course) -> Claim:
    """The claim that the scaling alone makes a spike."""
    return nets.claim(
        f"{name}_spikes",
        f"{logs.what} spikes at the α-scaling",
        f"factor between {logs.what} just before the α-scaling and right after it; geometric mean"
        " over nets",
        SPIKE,
        lambda rise: 10 ** mean(rise),
        logs.scaled - logs.unscaled,
        settled=(logs.settled.scaled, logs.settled.unscaled),
    )


def relaxes(nets: Nets, name: str, logs: Course) -> Claim:
    """The claim that the spike has soon decayed."""
    says = f"{logs.what} soon decays after its spike"
    return _left(nets, f"{name}_relaxes", says, DECAYED, logs, "soon")


def rejoins(nets: Nets, logs: Course) -> Claim:
    """The claim that in the end the curve is as if there had been no scaling."""
    says = (
        f"after enough overtraining the effect of the α-scaling disappears: {logs.what} goes on as"
        " before it"
    )
    return _left(nets, "rejoins", says, BARELY, logs, "end")


def _left(
    nets: Nets, name: str, says: str, criterion: Criterion, logs: Course, moment: str
) -> Claim:
    """The claim about the share of a spike that is left at a later `moment`, `soon` or the `end`.

    If there is no spike, there is no share.
    """
    when = {"soon": f"within {SOON} epochs", "end": "at the end"}[moment]
    above = above_trend(nets, logs)
    settled, rise = above.settled, above.scaled
    return nets.claim(
        name,
        says,
        f"share of the spike, in log10 of {logs.what} above the power law (in the epoch) of before"
        f" the α-scaling, that is left {when}; ratio of means",
        criterion,
        ratio,
        getattr(above, moment),
        np.where(10 ** mean(rise) >= SPIKE.low, rise, np.nan),
        settled=(settled.before, settled.scaled, getattr(settled, moment)),
    )


def untouched(nets: Nets) -> Claim:
    """The claim that the prior is the same just before the scaling and right after it.

    One or two epochs of training lie between them, which may change a label on E. The scaling
    alone changes none: that is an identity of ReLU nets, which a test proves.
    """
    prior, unit_settled = prior_in_ranges(nets)
    return nets.mean_claim(
        "prior_untouched",
        "the α-scaling itself leaves the prior as it is",
        "change of log10 P(f) from the last moment before the α-scaling to the scaled weights, up"
        f" or down, {IN_RANGES}",
        BARELY_OFF,
        np.abs(prior.scaled - prior.unscaled),
        settled=(unit_settled, prior.settled.scaled, prior.settled.unscaled),
    )


def returns(nets: Nets) -> Claim:
    """The claim that a prior that jumped returns in the end."""
    prior, unit_settled = prior_in_ranges(nets)
    return nets.mean_claim(
        "prior_returns",
        "in the end the prior is what it was before the α-scaling",
        f"change of log10 P(f) from just before the α-scaling to the end, {IN_RANGES}",
        BARELY,
        (prior.end - prior.unscaled) * _jumped(prior),
        settled=(unit_settled, prior.settled.end, prior.settled.unscaled),
    )


def _jumped(prior: Course) -> np.ndarray:
    """1 where the prior jumped; NaN where it did not, and so cannot return."""
    return np.where(mean(largest(prior.changes)) > JUMPS.low, 1.0, np.nan)


def _off_zero_error(nets: Nets) -> Claims:
    """The claims that the prior jumps, and does so only because of errors on S."""
    (prior, unit_settled), error = prior_in_ranges(nets), course(nets, ERROR)
    settled = (unit_settled, prior.settled.later, prior.settled.unscaled)
    yield nets.mean_claim(
        "leaves_zero_error",
        "the α-scaling makes SGD fall off zero error",
        "largest error on S after the α-scaling",
        MORE,
        largest(error.later),
    )
    yield nets.mean_claim(
        "prior_jumps",
        "the prior then jumps up",
        f"largest rise of log10 P(f) after the α-scaling above its value just before, {IN_RANGES}",
        JUMPS,
        largest(prior.changes),
        settled=settled,
    )
    yield nets.mean_claim(
        "prior_at_zero_error",
        "it does so only because SGD falls off zero error",
        "largest change of log10 P(f) after the α-scaling, up or down, at epochs without errors on"
        f" S, if it jumps at any epoch, {IN_RANGES}",
        BARELY_OFF,
        largest(np.where(error.later == 0, np.abs(prior.changes), np.nan)) * _jumped(prior),
        settled=settled,
    )
