"""Correlation coefficients of many samples at once, some of whose points may be missing."""

from typing import Literal

import numpy as np
import pandas as pd

# Deviations smaller than this, relative to the values, are round-off of a constant.
CONSTANT = 1e-13
# Of two points every coefficient is 1 or -1, whatever they are.
FEWEST = 3


def pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's r along the last axis, over the points where both are finite.

    NaN where either is constant, or where fewer than three points are left.
    """
    x, y, known = _paired(x, y)
    dx, dy = _deviations(x, known), _deviations(y, known)
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
    """Kendall's τ-b along the last axis, over the points where both are finite; NaN as `pearson`.

    After Knight (1966), by sorting. SciPy does so too, but takes one sample at a time: for 2000
    resamples of 55 points, as most claims have, 0.4 s to our 0.05. Of 1000 points, as the Boolean
    functions, SciPy is no slower: 0.8 s to our 1.2. (Seconds of one core's own time.)
    """
    x, y, known = _paired(x, y)
    # How many points are below each one; what is unknown is above all, and so comes last.
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
    """How many pairs of whole numbers, along the last axis, have the larger one first.

    That is so where, in the highest bit in which they differ, a one comes before a zero.
    """
    found = np.zeros(values.shape[:-1], dtype=int)
    for bit in reversed(range(int(values.max(initial=0)).bit_length())):
        # Those that have the same higher bits side by side, and otherwise as they were.
        [values] = _sorted(values >> (bit + 1), values)
        one = values >> bit & 1
        ones = one.cumsum(-1, dtype=np.int32)
        others = ones - _at_change(ones - one, values >> (bit + 1))
        found += np.where(one, 0, others).sum(-1)
    return found


def _at_change(counts: np.ndarray, *groups: np.ndarray) -> np.ndarray:
    """Growing counts, each as it was where its group begins."""
    fresh = np.logical_or.reduce(
        [np.diff(one, axis=-1, prepend=one[..., :1]) != 0 for one in groups]
    )
    return np.asarray(np.maximum.accumulate(np.where(fresh, counts, 0), axis=-1))


def _paired(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y = np.broadcast_arrays(x, y)
    known = np.isfinite(x) & np.isfinite(y)
    return x, y, known & (known.sum(-1, keepdims=True) >= FEWEST)


def _deviations(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """From the mean of what is known; zero elsewhere, and everywhere on a constant."""
    values = np.where(known, values, 0.0)
    with np.errstate(invalid="ignore"):
        mean = values.sum(-1, keepdims=True) / known.sum(-1, keepdims=True)
    deviations = np.where(known, values - mean, 0.0)
    size = np.abs(values).max(-1, keepdims=True, initial=0.0)
    varies = np.abs(deviations).max(-1, keepdims=True, initial=0.0) > CONSTANT * size
    return np.where(varies, deviations, 0.0)


def _ranks(
    values: np.ndarray, known: np.ndarray, ties: Literal["average", "min"] = "average"
) -> np.ndarray:
    """What is unknown ranks above all the rest, and so changes no other's rank."""
    # By pandas, which figures have loaded anyhow; scipy.stats takes another half a second.
    count = np.prod(known.shape[:-1], dtype=int)
    rows = np.where(known, values, np.inf).reshape(count, known.shape[-1])
    return pd.DataFrame(rows).rank(axis=1, method=ties).to_numpy().reshape(known.shape)
