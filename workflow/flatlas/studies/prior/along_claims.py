"""Courses along a training, and what the paper says of all of them.

Realizations reach zero error at different epochs; they are compared at the same distance from it.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from flatlas.claims.claim import Claim, Criterion
from flatlas.claims.conventions import (
    BARELY,
    BARELY_OFF,
    DECAYED,
    JUMPS,
    LESS,
    SOON,
    SPIKE,
)
from flatlas.claims.nets import Nets
from flatlas.evidence.material import BEYOND
from flatlas.statistics.means import mean
from flatlas.statistics.power_law import power_law
from flatlas.studies.prior.extremes import largest, smallest

# The paper's ascent by minibatches has too little time where losses are low: beyond zero error the
# sharpness is judged by corners. Before it, where most ascents settle, they are the paper's.
PRIOR_TABLE, ASCENT_TABLE, CORNERS_TABLE, WIDE_TABLE, HESSIAN_TABLE = (
    f"watched_{name}_summary" for name in ("prior", "sharpness", "corners", "wide", "hessian")
)
# The unit of changes of log10 P(f).
IN_RANGES = "relative to its range from the first checkpoint to zero error; mean over nets"


@dataclass(frozen=True)
class Course:
    """One quantity from zero error on: `values` as (realizations, moments).

    `epochs` are counted from zero error, where the α-scaling was done at `scaling`. What is
    measured at that epoch is measured on the scaled weights, before any further step. `searches`
    are 1 where the search for a value converged, 0 where not.
    """

    epochs: np.ndarray
    values: np.ndarray
    scaling: float
    searches: np.ndarray

    @property
    def settled(self) -> "Course":
        """Whether each value is to be trusted, as a course of its own."""
        return replace(self, values=self.searches)

    @cached_property
    def before(self) -> np.ndarray:
        """From zero error to the last moment before the scaling."""
        return self.values[:, self.epochs < self.scaling]

    @cached_property
    def later(self) -> np.ndarray:
        """What comes after the scaling."""
        return self.values[:, self.epochs > self.scaling]

    @property
    def start(self) -> np.ndarray:
        """At zero error."""
        return _one(self.values, 0)

    @property
    def unscaled(self) -> np.ndarray:
        """Just before the scaling."""
        return _one(self.before, -1)

    @property
    def scaled(self) -> np.ndarray:
        """By the scaling alone."""
        return _one(self.values[:, self.epochs == self.scaling], 0)

    @property
    def rise(self) -> np.ndarray:
        """How far it goes up after the scaling, above its value just before."""
        return largest(self.later - self.unscaled[:, np.newaxis])

    @property
    def soon(self) -> np.ndarray:
        """Soon after the scaling."""
        since = self.epochs - self.scaling
        return _one(self.values[:, (since > 0) & (since <= SOON)], -1)

    @property
    def end(self) -> np.ndarray:
        """After all of the training."""
        return _one(self.later, -1)


def course(nets: Nets, table: str, column: str) -> Course:
    """A column of a measure that was taken at many moments after zero error."""
    labels = np.array(nets.levels(table, "at"), dtype=str)
    late = np.char.startswith(labels, BEYOND)
    epochs = np.array([float(label.removeprefix(BEYOND)) for label in labels[late]])
    order = np.argsort(epochs)
    found, searches = (
        nets.read(table, name, "at")[:, 0][:, late][:, order] for name in (column, "converged")
    )
    scaling = np.fmax.reduce(nets.read("outcomes", "rescaling.after").ravel(), initial=np.nan)
    return Course(epochs[order], found, float(scaling), searches)


def logarithm(of: Course) -> Course:
    """log10 of what is positive."""
    return replace(of, values=np.log10(np.where(of.values > 0, of.values, np.nan)))


def log_prior(nets: Nets) -> Course:
    """log10 P(f), in units of the range that it went through before zero error.

    That of the fresh weights, most often a constant function, is no part of it: most of the way
    from there is gone within a few epochs.
    """
    found, before = (
        course(nets, PRIOR_TABLE, "log10_p"),
        approach(nets, PRIOR_TABLE, "log10_p")[:, 1:],
    )
    span = largest(before) - smallest(before)
    return replace(found, values=found.values / np.where(span > 0, span, np.nan)[:, np.newaxis])


def above_trend(nets: Nets, logs: Course) -> Course:
    """How far a logarithm is above the power law in the epoch that it followed till scaled."""
    epochs = nets.read("outcomes", "met_epoch")[:, :1] + logs.epochs
    slope, intercept = power_law(epochs[:, logs.epochs < logs.scaling], 10**logs.before)
    trend = intercept[:, np.newaxis] + slope[:, np.newaxis] * np.log10(epochs)
    return replace(logs, values=logs.values - trend)


def approach(nets: Nets, table: str, column: str) -> np.ndarray:
    """(realizations, moments), from the fresh weights to zero error; NaN at moments beyond it."""
    labels = np.array(nets.levels(table, "at"), dtype=str)
    early = np.char.isdigit(labels)
    epochs = labels[early].astype(float)
    found = nets.read(table, column, "at")[:, 0, early]
    found = np.where(epochs < nets.read("outcomes", "met_epoch")[:, :1], found, np.nan)
    met = course(nets, table, column).start[:, np.newaxis]
    return np.concatenate([found[:, np.argsort(epochs)], met], axis=1)


def constant(nets: Nets, prior: Course) -> Claim:
    """Of log10 P(f), from zero error to the scaling."""
    return nets.claim(
        "prior_constant",
        "after zero error, P(f) stays constant",
        "largest change of log10 P(f) from its value at zero error until the α-scaling, up or down,"
        f" {IN_RANGES}",
        BARELY_OFF,
        mean,
        largest(np.abs(prior.before - prior.start[:, np.newaxis])),
        settled=(unit_settled(nets), prior.settled.before),
    )


def falls(nets: Nets, name: str, says: str, logs: Course) -> Claim:
    """Of what goes on falling from zero error to the scaling."""
    return nets.claim(
        f"{name}_falls",
        f"after zero error, {says} goes on falling",
        f"change of log10 of {says} from zero error to just before the α-scaling; mean over nets",
        LESS,
        mean,
        logs.unscaled - logs.start,
        settled=(logs.settled.unscaled, logs.settled.start),
    )


def spikes(nets: Nets, name: str, says: str, logs: Course) -> Claim:
    """By the scaling alone."""
    return nets.claim(
        f"{name}_spikes",
        f"{says} spikes at the α-scaling",
        f"factor between {says} just before the α-scaling and by it; geometric mean over nets",
        SPIKE,
        lambda rise: 10 ** mean(rise),
        logs.scaled - logs.unscaled,
        settled=(logs.settled.scaled, logs.settled.unscaled),
    )


def relaxes(nets: Nets, name: str, says: str, logs: Course) -> Claim:
    """Soon after the spike."""
    above = above_trend(nets, logs)
    sentence = f"{says} soon decays after its spike"
    return _left(nets, f"{name}_relaxes", sentence, says, DECAYED, above, "soon")


def rejoins(nets: Nets, logs: Course) -> Claim:
    """In the end, as if nothing had been."""
    sentence = (
        "after enough overtraining the effect of the α-scaling disappears: the sharpness goes on as"
        " before it"
    )
    above = above_trend(nets, logs)
    return _left(nets, "rejoins", sentence, "the sharpness", BARELY, above, "end")


def _left(
    nets: Nets,
    name: str,
    sentence: str,
    says: str,
    criterion: Criterion,
    above: Course,
    moment: str,
) -> Claim:
    """What there is of a spike at a later `moment` of the course, `soon` or at the `end`."""
    when = {"soon": f"within {SOON} epochs", "end": "at the end"}[moment]
    settled = above.settled
    return nets.claim(
        name,
        sentence,
        f"share of the spike, in log10 of {says} above the power law (in the epoch) of before the"
        f" α-scaling, that is left {when}; ratio of means",
        criterion,
        share_left,
        getattr(above, moment),
        spiked(above.scaled),
        settled=(settled.before, settled.scaled, getattr(settled, moment)),
    )


def spiked(rise: np.ndarray) -> np.ndarray:
    """How high the spikes are, in log10; NaN where they are none, of which nothing can be left."""
    return np.where(10 ** mean(rise) >= SPIKE.low, rise, np.nan)


def jumped(rise: np.ndarray) -> np.ndarray:
    """1 where the prior jumped; NaN where it did not, so that there is no way back."""
    return np.where(mean(rise) > JUMPS.low, 1.0, np.nan)


def share_left(left: np.ndarray, spike: np.ndarray) -> np.ndarray:
    """The ratio of means over realizations."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(mean(left) / mean(spike))


def untouched(nets: Nets, prior: Course) -> Claim:
    """Of log10 P(f), from the moment before the scaling to the scaled weights.

    An epoch or two of training lie between them, which may turn a label on E. That the scaling
    alone turns none is an identity of ReLU nets, and a test of ours.
    """
    return nets.claim(
        "prior_untouched",
        "the α-scaling itself leaves the prior as it is",
        "change of log10 P(f) from the last moment before the α-scaling to the scaled weights, up"
        " or down,"
        f" {IN_RANGES}",
        BARELY_OFF,
        mean,
        np.abs(prior.scaled - prior.unscaled),
        settled=(unit_settled(nets), prior.settled.scaled, prior.settled.unscaled),
    )


def returns(nets: Nets, prior: Course) -> Claim:
    """Of log10 P(f), in the end."""
    return nets.claim(
        "prior_returns",
        "in the end the prior is what it was before the α-scaling",
        f"change of log10 P(f) from just before the α-scaling to the end, {IN_RANGES}",
        BARELY,
        mean,
        (prior.end - prior.unscaled) * jumped(prior.rise),
        settled=(unit_settled(nets), prior.settled.end, prior.settled.unscaled),
    )


def unit_settled(nets: Nets) -> np.ndarray:
    """Whether the searches behind the unit of `log_prior` converged."""
    return approach(nets, PRIOR_TABLE, "converged")[:, 1:]


def _one(values: np.ndarray, place: int) -> np.ndarray:
    """A column, unless there is none."""
    return values[:, place] if values.shape[1] else np.full(len(values), np.nan)
