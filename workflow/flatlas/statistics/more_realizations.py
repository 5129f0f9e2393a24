"""How many realizations would make an interval narrow enough."""

from collections.abc import Callable, Iterable
from math import isfinite

import numpy as np

from flatlas.statistics.estimate import Estimate
from flatlas.statistics.student import standard_errors

# More realizations than this are out of reach.
MOST = 1000
# With fewer realizations the interval is the range of the resamples, which covers clearly less than
# 95 %.
COVERED = 5
# Half the mean range of 2, 3 and 4 normal realizations, in units of their standard deviation: half
# of d2 of control charts.
HALF_RANGES = np.array([0.564, 0.846, 1.029])

HalfWidth = Callable[[np.ndarray], np.ndarray]


def student(counts: np.ndarray) -> np.ndarray:
    """Half of Student's interval, in standard deviations of one realization; see `jackknife`."""
    return standard_errors(counts) / np.sqrt(counts)


def resampled(counts: np.ndarray) -> np.ndarray:
    """The same for the interval of `estimate`: Student's from five realizations on, else the range.

    The interval of five is in fact a sixth narrower (and covers 92 % of normal means). The number
    needed, if computed from five, is therefore a third too small; from eight on it is within 6 %.
    """
    few = HALF_RANGES[np.clip(counts, 2, COVERED - 1) - 2]
    return np.where(counts < COVERED, few, student(counts))


def narrow_enough(
    found: Estimate, ends: Iterable[float], realizations: int, half: HalfWidth = resampled
) -> int | None:
    """How many realizations would make an interval exclude all `ends`, if its value stays the same.

    The half-width gives the standard deviation of one realization, and this gives the half-width
    for any number. The result is at least `COVERED`; None if it would be more than `MOST`.
    """
    distance = min(abs(found.value - end) for end in ends if isfinite(end))
    spread = (found.high - found.low) / 2 / half(np.array(realizations))
    counts = np.arange(max(realizations + 1, COVERED), MOST + 1)
    enough = counts[half(counts) * spread < distance]
    return int(enough[0]) if len(enough) else None
