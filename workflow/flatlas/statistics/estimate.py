"""A number with its interval, by the bootstrap over realizations."""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan

import numpy as np
from scipy import stats

RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value and the ends of its interval; the ends are NaN where there is none."""

    value: float
    low: float
    high: float


def estimate(statistic: Callable[..., float], *measured: np.ndarray) -> Estimate:
    """The statistic of all realizations, with its 95 % percentile bootstrap interval.

    Every array has the realizations on its first axis; they are drawn together, since what was
    measured on one realization belongs together: the runs of one seed share their images. A
    resample in which the statistic is not a number (no solution was drawn at some point of a
    sweep) is left out. One realization has no interval.
    """
    count = len(measured[0])
    value = float(statistic(*measured))
    if count < 2:
        return Estimate(value, nan, nan)
    drawn = stats.bootstrap(
        (np.arange(count),),
        lambda chosen: statistic(*(array[chosen] for array in measured)),
        n_resamples=RESAMPLES,
        vectorized=False,
        method="percentile",
        rng=np.random.default_rng(0),
    ).bootstrap_distribution
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        return Estimate(value, nan, nan)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Estimate(value, float(low), float(high))
