"""Quantities along a training as arrays for claims: until zero error, and from there on.

Realizations reach zero error at different epochs; they are compared at the same distance from it.
"""

from dataclasses import dataclass, replace

import numpy as np

from flatlas.claims.conventions import SOON
from flatlas.claims.correlations import Measured
from flatlas.claims.nets import Nets
from flatlas.evidence.material import BEYOND
from flatlas.statistics.means import largest, smallest
from flatlas.statistics.power_law import power_law
from flatlas.studies.prior.along import AFTER, PRIOR
from flatlas.studies.prior.quantities import Quantity

# The unit of changes of log10 P(f).
IN_RANGES = "relative to its range from the first checkpoint to zero error"


@dataclass(frozen=True)
class Course:
    """One quantity from zero error on: `values` as (realizations, moments).

    `epochs` count from zero error; the α-scaling was done at `scaling`. At that epoch the scaled
    weights are measured, before any further step. `searches` are 1 where the search for a value
    converged, and 0 where it did not.
    """

    epochs: np.ndarray
    values: np.ndarray
    scaling: float
    searches: np.ndarray
    what: str = ""

    @property
    def settled(self) -> "Course":
        """The `searches` as a course of their own, in place of the values."""
        return replace(self, values=self.searches)

    @property
    def before(self) -> np.ndarray:
        """From zero error to the last moment before the scaling."""
        return self.values[:, self.epochs < self.scaling]

    @property
    def later(self) -> np.ndarray:
        """The moments after the scaling."""
        return self.values[:, self.epochs > self.scaling]

    @property
    def start(self) -> np.ndarray:
        """The value at zero error."""
        return _one(self.values, 0)

    @property
    def unscaled(self) -> np.ndarray:
        """The value just before the scaling."""
        return _one(self.before, -1)

    @property
    def scaled(self) -> np.ndarray:
        """The value right after the scaling."""
        return _one(self.values[:, self.epochs == self.scaling], 0)

    @property
    def changes(self) -> np.ndarray:
        """The changes after the scaling, from the value just before it."""
        return self.later - self.unscaled[:, np.newaxis]

    @property
    def soon(self) -> np.ndarray:
        """The last value soon after the scaling."""
        since = self.epochs - self.scaling
        return _one(self.values[:, (since > 0) & (since <= SOON)], -1)

    @property
    def end(self) -> np.ndarray:
        """The value at the end of the training."""
        return _one(self.later, -1)


def course(nets: Nets, quantity: Quantity) -> Course:
    """A quantity at the moments after zero error."""
    labels = _moments(nets, quantity)
    late = np.char.startswith(labels, BEYOND)
    epochs = np.array([float(label.removeprefix(BEYOND)) for label in labels[late]])
    order = np.argsort(epochs)
    measured = quantity.along(nets)
    values, searches = (found[:, late][:, order] for found in (measured.values, measured.settled))
    scaling = largest(nets.read_of_run("outcomes", AFTER))
    return Course(epochs[order], values, float(scaling), searches, quantity.what)


def approach(nets: Nets, quantity: Quantity) -> Measured:
    """A quantity from the initial weights to zero error, (realizations, moments); NaN beyond it."""
    labels, measured, late = _moments(nets, quantity), quantity.along(nets), course(nets, quantity)
    early = np.char.isdigit(labels)
    epochs = labels[early].astype(float)
    before = epochs < nets.read_of_run("outcomes", "met_epoch")[:, np.newaxis]

    def until(found: np.ndarray, start: np.ndarray) -> np.ndarray:
        ordered = np.where(before, found[:, early], np.nan)[:, np.argsort(epochs)]
        return np.concatenate([ordered, start[:, np.newaxis]], axis=1)

    return Measured(until(measured.values, late.start), until(measured.settled, late.settled.start))


def checkpoints(nets: Nets, quantity: Quantity) -> np.ndarray:
    """The epochs, ascending, at which a quantity was measured whether or not the rule was met."""
    labels = _moments(nets, quantity)
    return np.sort(labels[np.char.isdigit(labels)].astype(float))


def prior_in_ranges(nets: Nets) -> tuple[Course, np.ndarray]:
    """log10 P(f) in units of its range before zero error, and whether that range can be trusted.

    The range leaves out the initial weights. They most often give a constant function, and most of
    the change from there takes only a few epochs.
    """
    found, before = course(nets, PRIOR), approach(nets, PRIOR)
    logs = before.values[:, 1:]
    span = largest(logs) - smallest(logs)
    unit = np.where(span > 0, span, np.nan)[:, np.newaxis]
    return replace(found, values=found.values / unit), before.settled[:, 1:]


def above_trend(nets: Nets, logs: Course) -> Course:
    """How far a logarithm is above its trend: the power law fitted before the scaling."""
    epochs = nets.read_of_run("outcomes", "met_epoch")[:, np.newaxis] + logs.epochs
    slope, intercept = power_law(epochs[:, logs.epochs < logs.scaling], 10**logs.before)
    trend = intercept[:, np.newaxis] + slope[:, np.newaxis] * np.log10(epochs)
    return replace(logs, values=logs.values - trend)


def _moments(nets: Nets, quantity: Quantity) -> np.ndarray:
    return np.array(nets.levels(f"{quantity.measure}_summary", "at"), dtype=str)


def _one(values: np.ndarray, place: int) -> np.ndarray:
    """A column; NaN if there is none."""
    return values[:, place] if values.shape[1] else np.full(len(values), np.nan)
