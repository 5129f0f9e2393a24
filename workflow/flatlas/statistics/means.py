"""Means over realizations, some of which may have no value."""

import numpy as np


def mean(measured: np.ndarray, axis: int = 0) -> np.ndarray:
    """The mean of all known values; NaN if there are none."""
    known = np.isfinite(measured)
    with np.errstate(invalid="ignore"):
        total = np.where(known, measured, 0.0).sum(axis) / known.sum(axis)
    return np.asarray(total)
