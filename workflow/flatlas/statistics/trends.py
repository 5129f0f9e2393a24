"""The papers' statements about a sweep, as statistics of arrays (realizations, ..., values).

Each averages over realizations first, as the papers' lines and dots are means.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.statistics.pooling import Statistic, over_all_nets

# The rank correlation of two quantities over all nets of all realizations and values.
pooled = over_all_nets(spearman)


def average(over: np.ndarray) -> np.ndarray:
    """The mean over realizations, then over the values."""
    return mean(mean(over), -1)


def change(over: np.ndarray) -> np.ndarray:
    """The relative change from the first value to the last."""
    means = mean(over)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(means[..., -1] / means[..., 0] - 1)


def difference(over: np.ndarray) -> np.ndarray:
    """The change from the first value to the last."""
    means = mean(over)
    return np.asarray(means[..., -1] - means[..., 0])


def change_of_logs(over: np.ndarray) -> np.ndarray:
    """The relative change of a quantity, from its logarithm."""
    return np.expm1(difference(over))


def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The share of a part in the change of the whole, from the first value to the last."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(difference(part) / difference(whole))


def share_of_a_rise(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """`share`, but below 0 where the whole falls: then no part has a share in its rise."""
    found = share(part, whole)
    return np.where(difference(whole) < 0, -np.abs(found), found)


def share_of_a_fall(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """`share`, but below 0 where the whole rises."""
    return share_of_a_rise(-part, -whole)


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The ratio of two means."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(mean(part) / mean(whole))


def trend(values: Iterable[float]) -> Statistic:
    """The rank correlation of the means with the swept values."""
    return lambda over: spearman(mean(over), np.array([*values], float))


def from_value(first: int) -> Callable[[np.ndarray], np.ndarray]:
    """The relative change from one value (by its place) to the last."""
    return lambda over: change(over[..., [first, -1]])


def nearest(values: Sequence[float], wanted: float) -> int:
    """The place of the value nearest to the wanted one by ratio, among all but the last."""
    if len(values) < 2:
        return 0
    with np.errstate(divide="ignore"):
        return int(np.argmin(np.abs(np.log(np.asarray(values[:-1], float) / wanted))))
