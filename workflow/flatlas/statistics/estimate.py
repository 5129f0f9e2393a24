"""A number with its interval, by the bootstrap over realizations."""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from scipy.special import ndtr, stdtrit

RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value and the ends of its interval; the ends are NaN where there is none."""

    value: float
    low: float
    high: float


UNKNOWN = Estimate(nan, nan, nan)


def estimate(
    statistic: Callable[..., np.ndarray], *measured: np.ndarray, fewest: int | None = None
) -> Estimate:
    """The statistic of all realizations, with its 95 % bootstrap interval.

    Every array has the realizations on its first axis; they are drawn together, since what was
    measured on one realization belongs together: the runs of one seed share their images. The
    statistic does away with the first axis and with as many of the last ones as it needs; in
    between, it finds an axis of 2000 resamples, all of which it takes at once.

    A resample in which the statistic is not a number (no solution was drawn at some point of a
    sweep) is left out. `fewest` is the number of realizations behind the part of the statistic
    that has the fewest, where some are missing. One realization has no interval.
    """
    count = len(measured[0])
    value = float(statistic(*measured))
    drawn = np.random.default_rng(0).integers(count, size=(count, RESAMPLES))
    resampled = np.asarray(statistic(*(array[drawn] for array in measured)))
    resampled = resampled[np.isfinite(resampled)]
    known = count if fewest is None else fewest
    if known < 2 or not len(resampled):
        return Estimate(value, nan, nan)
    tail = _tail(known)
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Estimate(value, float(low), float(high))


def _tail(count: int) -> float:
    """Which share of the resamples lies beyond each end of the interval.

    The plain percentile interval of few realizations is too narrow: resampled means spread by
    the standard deviation with n, not n − 1, below the sum of squares, and the normal's quantile
    stands where Student's belongs. Of 10 realizations it covers 90 % where 95 % is promised. Its
    ends are therefore taken further out, so that for a mean it agrees with Student's interval
    (Hesterberg, What teachers should know about the bootstrap, 2015, §4.4). BCa corrects for
    skewness, not for this, and its jackknife fails where a point of a sweep has few solutions.
    Below five realizations the interval is the whole range of the resamples, for want of more: it
    covers about 50, 75 and 88 % of 2, 3 and 4 realizations.
    """
    student = stdtrit(count - 1, (1 + CONFIDENCE) / 2)
    return float(ndtr(-student * sqrt(count / (count - 1))))
