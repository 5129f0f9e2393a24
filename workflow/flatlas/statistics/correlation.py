"""Correlation coefficients of many samples at once; points may be missing."""

from typing import Literal

import numpy as np
import pandas as pd

# Deviations smaller than this, relative to the values, are round-off of a constant.
CONSTANT = 1e-13
# For two points every coefficient is 1 or -1.
FEWEST = 3


def pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's r along the last axis, over the points where both are finite.

    NaN if either is constant, or if fewer than three points are left.
    """
    x, y, known = _paired(x, y)
    dx, dy = deviations(x, known), deviations(y, known)
    with np.errstate(invalid="ignore"):
        r = (dx * dy).sum(-1) / np.sqrt((dx**2).sum(-1) * (dy**2).sum(-1))
    return np.asarray(r)


def spearman(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Spearman's rank correlation along the last axis, over the points where both are finite.

    Ties have their mean rank; NaN as with `pearson`.
    """
    x, y, known = _paired(x, y)
    return pearson(*(np.where(known, _ranks(values, known), np.nan) for values in (x, y)))


def kendall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Kendall's τ-b along the last axis, over the points where both are finite.

    NaN as with `pearson`. After Knight (1966), by sorting. SciPy does the same for one sample at a
    time. 2000 resamples of 55 points, as in most claims, take SciPy 0.4 s and this function 0.05 s.
    With 1000 points, as for the Boolean functions, SciPy is faster: 0.8 s against 1.2 s. (CPU
    seconds of one core.)
    """
    x, y, known = _paired(x, y)
    # The number of points below each one; unknown points rank highest and so come last.
    x, y = (_ranks(values, known, "min") - 1 for values in (x, y))
    untied_x, untied_y = (np.where(known, below, 0).sum(-1) for below in (x, y))
    # Numbers of 16 bits are sorted ten times as fast.
    x, y = (below.astype(np.min_scalar_type(known.shape[-1])) for below in (x, y))
    x, y, known = _sorted(y, x, y, known)
    x, y, known = _sorted(x, x, y, known)
    both = known.sum(-1)
    place = np.arange(known.shape[-1])
    # Pairs that are tied in both.
    alike = np.where(known, place - _at_change(place, x, y), 0).sum(-1)
    untied = untied_x + untied_y + alike - both * (both - 1) // 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((untied - 2 * _inversions(y)) / np.sqrt(1.0 * untied_x * untied_y))


def _sorted(by: np.ndarray, *arrays: np.ndarray) -> list[np.ndarray]:
    order = np.argsort(by, axis=-1, kind="stable")
    return [np.take_along_axis(one, order, -1) for one in arrays]


def _inversions(values: np.ndarray) -> np.ndarray:
    """The number of pairs of whole numbers, along the last axis, with the larger one first.

    In such a pair a one comes before a zero in the highest bit in which they differ.
    """
    found = np.zeros(values.shape[:-1], dtype=int)
    for bit in reversed(range(int(values.max(initial=0)).bit_length())):
        # Sort numbers with the same higher bits together; keep their order otherwise.
        [values] = _sorted(values >> (bit + 1), values)
        one = values >> bit & 1
        ones = one.cumsum(-1, dtype=np.int32)
        others = ones - _at_change(ones - one, values >> (bit + 1))
        found += np.where(one, 0, others).sum(-1)
    return found


def _at_change(counts: np.ndarray, *groups: np.ndarray) -> np.ndarray:
    """Growing counts, each replaced by its value at the start of its group."""
    fresh = np.logical_or.reduce(
        [np.diff(one, axis=-1, prepend=one[..., :1]) != 0 for one in groups]
    )
    return np.asarray(np.maximum.accumulate(np.where(fresh, counts, 0), axis=-1))


def _paired(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both arrays, and which points to use: none if too few are known, or if one is constant."""
    x, y = np.broadcast_arrays(x, y)
    known = np.isfinite(x) & np.isfinite(y)
    enough = known.sum(-1, keepdims=True) >= FEWEST
    x_varies, y_varies = (deviations(one, known).any(-1, keepdims=True) for one in (x, y))
    return x, y, known & enough & x_varies & y_varies


def deviations(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Deviations from the mean of known values; zero elsewhere, and everywhere for a constant."""
    values = np.where(known, values, 0.0)
    with np.errstate(invalid="ignore"):
        mean = values.sum(-1, keepdims=True) / known.sum(-1, keepdims=True)
    found = np.where(known, values - mean, 0.0)
    size = np.abs(values).max(-1, keepdims=True, initial=0.0)
    varies = np.abs(found).max(-1, keepdims=True, initial=0.0) > CONSTANT * size
    return np.where(varies, found, 0.0)


def _ranks(
    values: np.ndarray, known: np.ndarray, ties: Literal["average", "min"] = "average"
) -> np.ndarray:
    """Ranks; unknown values rank highest, so that they change no other rank."""
    # By pandas, which figures load in any case; scipy.stats takes another half second to import.
    count = np.prod(known.shape[:-1], dtype=int)
    rows = np.where(known, values, np.inf).reshape(count, known.shape[-1])
    return pd.DataFrame(rows).rank(axis=1, method=ties).to_numpy().reshape(known.shape)
