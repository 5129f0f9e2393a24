"""A number with its interval: by the bootstrap, the jackknife, or exactly for a share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from scipy.special import betaincinv, ndtr

from flatlas.statistics.student import CONFIDENCE, standard_errors

RESAMPLES = 2000


@dataclass(frozen=True)
class Estimate:
    """A value and the ends of its interval; the ends are NaN if there is none."""

    value: float
    low: float
    high: float


UNKNOWN = Estimate(nan, nan, nan)


def estimate(
    statistic: Callable[..., np.ndarray], *measured: np.ndarray, fewest: int | None = None
) -> Estimate:
    """The statistic of all realizations, with its 95 % bootstrap interval.

    Every array has the realizations on its first axis. They are drawn together in all arrays,
    because the runs of one seed share their images. The statistic reduces the first axis and as
    many of the last ones as it needs; between them it gets an axis of 2000 resamples, all processed
    at once.

    A resample in which the statistic is not a number (no solution was drawn at some point of a
    sweep) is left out. Where realizations are missing, `fewest` is the smallest number of
    realizations behind any part of the statistic. A single realization has no interval.
    """
    count = len(measured[0])
    value = float(statistic(*measured))
    resampled = in_resamples(statistic, *measured)
    resampled = resampled[np.isfinite(resampled)]
    known = count if fewest is None else fewest
    if known < 2 or not len(resampled):
        return Estimate(value, nan, nan)
    tail = _tail(known)
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Estimate(value, float(low), float(high))


def in_resamples(statistic: Callable[..., np.ndarray], *measured: np.ndarray) -> np.ndarray:
    """The statistic of each resample, on the first axis; resamples are the same at each call."""
    count = len(measured[0])
    drawn = np.random.default_rng(0).integers(count, size=(count, RESAMPLES))
    return np.asarray(statistic(*(array[drawn] for array in measured)))


def over_directions(statistic: Callable[..., np.ndarray], *measured: np.ndarray) -> Estimate:
    """The statistic of all points of (realizations, directions), with its 95 % interval.

    Realizations and directions are resampled independently (Owen, The pigeonhole bootstrap, 2007):
    the directions of one realization share its net, and those of one rank share what nets have in
    common at that rank. The interval of a single realization covers its directions only. The
    statistic reduces the last axis, that of the points.
    """
    measured = np.broadcast_arrays(*measured)
    realizations, directions = measured[0].shape
    drawn = np.random.default_rng(0).integers(directions, size=(1, RESAMPLES, directions))

    def pooled(*arrays: np.ndarray) -> np.ndarray:
        if arrays[0].ndim == 3:
            arrays = tuple(np.take_along_axis(each, drawn, -1) for each in arrays)
        points = (np.moveaxis(each, 0, -1) for each in arrays)
        return statistic(*(each.reshape(*each.shape[:-2], -1) for each in points))

    fewest = realizations if realizations > 1 else directions
    return estimate(pooled, *measured, fewest=fewest)


def _tail(count: int) -> float:
    """The share of the resamples beyond each end of the interval.

    The plain percentile interval of few realizations is too narrow: resampled means have the
    standard deviation with n, not n − 1, in the denominator, and the quantile is the normal's, not
    Student's. With 10 realizations it covers 90 % instead of 95 %. So the ends are moved outwards
    such that for a mean it agrees with Student's interval (Hesterberg, What teachers should know
    about the bootstrap, 2015, §4.4). BCa corrects for skewness, not for this, and its jackknife
    fails where a point of a sweep has few solutions. With fewer than five realizations the interval
    is the whole range of the resamples, the most they allow: it covers about 50, 75 and 88 % for 2,
    3 and 4 realizations.
    """
    return float(ndtr(-standard_errors(count) * sqrt(count / (count - 1))))


def share_of_ones(met: np.ndarray, confidence: float = CONFIDENCE) -> Estimate:
    """The share of ones among zeros and ones, with its exact interval; NaN are left out.

    Where all agree, a bootstrap interval would have no width. A single one has no interval.
    """
    count, ones = int(np.isfinite(met).sum()), int(np.nansum(met))
    if count < 2:
        return Estimate(ones / count if count else nan, nan, nan)
    # Clopper and Pearson, 1934.
    tail = (1 - confidence) / 2
    low = betaincinv(ones, count - ones + 1, tail) if ones else 0.0
    high = betaincinv(ones + 1, count - ones, 1 - tail) if ones < count else 1.0
    return Estimate(ones / count, float(low), float(high))


def least_share(met: np.ndarray) -> Estimate:
    """The least share of ones of several columns, with its 95 % interval.

    One upper end that is too low makes the least upper end too low, so Bonferroni's rule widens
    these.
    """
    found = [share_of_ones(column) for column in met.T]
    wide = [share_of_ones(column, 1 - (1 - CONFIDENCE) / len(found)) for column in met.T]
    return Estimate(
        min(one.value for one in found),
        min(one.low for one in found),
        min(one.high for one in wide),
    )


# Student's interval of two realizations is too wide to say anything.
FEWEST = 3


def jackknife(statistic: Callable[[np.ndarray], np.ndarray], parts: np.ndarray) -> Estimate:
    """The statistic of the sum of all realizations' parts, with Student's 95 % interval.

    Each realization contributes a part (realizations, ...); the statistic leaves leading axes as
    they are, and is the same for twice the sum, as a ratio is. Its error is that of the jackknife,
    from its changes when one realization is left out. The percentile bootstrap of five realizations
    ends at their range, which is too narrow (docs/atlas.md).
    """
    total, count = parts.sum(0), len(parts)
    value = float(statistic(total))
    left = np.asarray(statistic(total - parts), float)
    if count < FEWEST or not np.isfinite(left).all():
        return Estimate(value, nan, nan)
    error = sqrt((count - 1) / count * ((left - left.mean()) ** 2).sum())
    half = float(standard_errors(count)) * error
    return Estimate(value, value - half, value + half)


def least(found: Sequence[Estimate], realizations: int) -> Estimate:
    """The least of several values of at most 1, each with its interval; NaN if one is unknown.

    One upper end that is too low makes the least upper end too low, so upper ends are widened by
    Bonferroni's rule. Where one end is cut off, because the value can't go beyond it, the other end
    gives the width.
    """
    if not found:
        return UNKNOWN
    all_of_them = 1 - (1 - CONFIDENCE) / len(found)
    wider = standard_errors(realizations, all_of_them) / standard_errors(realizations)
    halves = [max(one.value - one.low, one.high - one.value) for one in found]
    high = np.min([one.value + wider * half for one, half in zip(found, halves, strict=True)])
    value, low = np.min([[one.value, one.low] for one in found], axis=0)
    return Estimate(float(value), float(low), min(float(high), 1.0))
