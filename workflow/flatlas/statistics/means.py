"""Means and extremes of known values; NaN where none is known."""

import numpy as np


def mean(measured: np.ndarray, axis: int = 0) -> np.ndarray:
    """The mean of all known values; NaN if there are none."""
    known = np.isfinite(measured)
    with np.errstate(invalid="ignore"):
        total = np.where(known, measured, 0.0).sum(axis) / known.sum(axis)
    return np.asarray(total)


def largest(values: np.ndarray) -> np.ndarray:
    """The largest known value along the last axis."""
    return np.asarray(np.fmax.reduce(values, axis=-1, initial=np.nan))


def smallest(values: np.ndarray) -> np.ndarray:
    """The smallest known value along the last axis."""
    return np.asarray(np.fmin.reduce(values, axis=-1, initial=np.nan))
