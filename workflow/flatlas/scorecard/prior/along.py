"""Courses along a training, and what the paper says of all of them.

Realizations reach zero error at different epochs; they are compared at the same distance from it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import BARELY, BARELY_OFF, LESS, SMALL, SPIKE
from flatlas.scorecard.nets import Nets
from flatlas.statistics.means import mean

PRIOR, SHARPNESS, WIDE, HESSIAN = (
    f"watched_{name}_summary" for name in ("prior", "sharpness", "wide", "hessian")
)
MET = "met+"


@dataclass(frozen=True)
class Course:
    """One quantity from zero error on: `values` as (realizations, moments).

    `epochs` are counted from zero error, where the α-scaling was done at `scaling`. What is
    measured at that epoch is measured on the scaled weights, before any further step.
    """

    epochs: np.ndarray
    values: np.ndarray
    scaling: float

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
    def end(self) -> np.ndarray:
        """After all of the training."""
        return _one(self.later, -1)


def course(nets: Nets, table: str, column: str) -> Course:
    """A column of a measure that was taken at many moments after zero error."""
    labels = np.array(nets.levels(table, "at"), dtype=str)
    found = nets.read(table, column, "at")[:, 0]
    late = np.char.startswith(labels, MET)
    epochs = np.array([float(label.removeprefix(MET)) for label in labels[late]])
    order = np.argsort(epochs)
    scaling = np.fmax.reduce(nets.read("outcomes", "rescaling.after").ravel(), initial=np.nan)
    return Course(epochs[order], found[:, late][:, order], float(scaling))


def logarithm(of: Course) -> Course:
    """log10 of what is positive."""
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.where(of.values > 0, np.log10(of.values), np.nan)
    return Course(of.epochs, logs, of.scaling)


def approach(nets: Nets, table: str, column: str) -> np.ndarray:
    """(realizations, moments), from the fresh weights to zero error; NaN at moments beyond it."""
    labels = np.array(nets.levels(table, "at"), dtype=str)
    early = np.char.isdigit(labels)
    epochs = labels[early].astype(float)
    found = nets.read(table, column, "at")[:, 0, early]
    found = np.where(epochs < nets.read("outcomes", "met_epoch")[:, :1], found, np.nan)
    met = course(nets, table, column).start[:, np.newaxis]
    return np.concatenate([found[:, np.argsort(epochs)], met], axis=1)


def largest(values: np.ndarray) -> np.ndarray:
    """Of all that is known, along the last axis."""
    return np.asarray(np.fmax.reduce(values, axis=-1, initial=np.nan))


def relative(values: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Changes of log10 P(f), which is negative, in units of what it was; up is positive."""
    values = values - to.reshape(-1, *[1] * (values.ndim - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(values / np.abs(to).reshape(-1, *[1] * (values.ndim - 1)))


def constant(nets: Nets, prior: Course) -> Claim:
    """Of log10 P(f), from zero error to the scaling."""
    return nets.claim(
        "prior_constant",
        "after zero error, P(f) stays constant",
        "largest change of log10 P(f) from its value at zero error until the α-scaling, up or down,"
        " relative to that value; mean over nets",
        BARELY_OFF,
        mean,
        largest(np.abs(relative(prior.before, prior.start))),
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
    )


def relaxes(nets: Nets, name: str, says: str, logs: Course) -> Claim:
    """After the spike."""
    return nets.claim(
        f"{name}_relaxes",
        f"{says} soon decays after its spike",
        f"share of the spike, in log10 of {says}, that is left at the end; ratio of means",
        SMALL,
        share_left,
        logs.end - logs.unscaled,
        spiked(logs.scaled - logs.unscaled),
    )


def spiked(rise: np.ndarray) -> np.ndarray:
    """How high the spikes are, in log10; NaN where they are none, of which nothing can be left."""
    return np.where(10 ** mean(rise) >= SPIKE.low, rise, np.nan)


def share_left(left: np.ndarray, spike: np.ndarray) -> np.ndarray:
    """The ratio of means over realizations."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(mean(left) / mean(spike))


def untouched(nets: Nets, prior: Course) -> Claim:
    """Of log10 P(f), by the scaling alone."""
    return nets.claim(
        "prior_untouched",
        "the α-scaling itself leaves the prior as it is",
        "relative change of log10 P(f) by the α-scaling, up or down; mean over nets",
        BARELY_OFF,
        mean,
        np.abs(relative(prior.scaled, prior.unscaled)),
    )


def returns(nets: Nets, prior: Course) -> Claim:
    """Of log10 P(f), in the end."""
    return nets.claim(
        "prior_returns",
        "in the end the prior is what it was before the α-scaling",
        "relative change of log10 P(f) from just before the α-scaling to the end; mean over nets",
        BARELY,
        mean,
        relative(prior.end, prior.unscaled),
    )


def _one(values: np.ndarray, place: int) -> np.ndarray:
    """A column, unless there is none."""
    return values[:, place] if values.shape[1] else np.full(len(values), np.nan)
