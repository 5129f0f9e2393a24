"""Extremes of the known values along the last axis; NaN where none is known."""

import numpy as np


def largest(values: np.ndarray) -> np.ndarray:
    """The largest known value."""
    return np.asarray(np.fmax.reduce(values, axis=-1, initial=np.nan))


def smallest(values: np.ndarray) -> np.ndarray:
    """The smallest known value."""
    return np.asarray(np.fmin.reduce(values, axis=-1, initial=np.nan))
