"""One number from several statistics: the largest, the least, or their mean size."""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from scipy.special import ndtri

from flatlas.statistics.estimate import Estimate, in_resamples
from flatlas.statistics.student import CONFIDENCE, standard_errors

TAILS = (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2


@dataclass(frozen=True)
class Joint:
    """The result of `join` for the numbers that a statistic leaves on the last axis.

    `join` takes their largest, their smallest or their mean. If `sizes`, signs do not matter.
    `shown` is a monotone function of the result, such as the factor of a logarithm.
    """

    numbers: Callable[..., np.ndarray]
    join: Callable[[np.ndarray], np.ndarray]
    sizes: bool = False
    shown: Callable[[np.ndarray], np.ndarray] = np.asarray

    def __call__(self, *measured: np.ndarray) -> np.ndarray:
        """The number of all realizations."""
        return self.shown(self._of(self.numbers(*measured)))

    def estimate(self, *measured: np.ndarray, fewest: int | None = None) -> Estimate:
        """That number with its 95 % interval; arguments are as in `statistics.estimate`.

        Errors bias a largest number and sizes upwards, and a resample adds errors once more. But
        the largest of sums is at most the sum of the largest: the bias is at most the result for
        the errors alone. So the lower end is the value minus the result for the errors, and only
        the upper end is that of the resamples. For a least number it is the other way round. The
        errors are widened to Student's interval (see `_tail`), also for few realizations: the
        interval holds from three on.
        """
        numbers = np.asarray(self.numbers(*measured), float)
        known = np.isfinite(numbers)
        value = float(self._of(numbers))
        resampled = in_resamples(self.numbers, *measured)[:, known]
        resampled = resampled[np.isfinite(resampled).all(-1)]
        count = len(measured[0]) if fewest is None else fewest
        if count < 2 or not known.any() or not len(resampled):
            return Estimate(float(self.shown(np.asarray(value))), nan, nan)
        # Student's interval is wider than that of the resampled means by this factor.
        wider = standard_errors(count) / ndtri(TAILS[1]) * sqrt(count / (count - 1))
        errors = float(wider) * (resampled - numbers[known])
        ends = np.quantile([value - self._of(errors), self._of(numbers[known] + errors)], TAILS, 1)
        low, high = ends[0].min(), ends[1].max()
        shown = self.shown(np.array([value, max(low, 0.0) if self.sizes else low, high]))
        return Estimate(float(shown[0]), float(shown[1:].min()), float(shown[1:].max()))

    def _of(self, numbers: np.ndarray) -> np.ndarray:
        return self.join(np.abs(numbers) if self.sizes else numbers)
