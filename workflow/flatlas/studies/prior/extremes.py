"""Extremes of all that is known, along the last axis; NaN where nothing is."""

import numpy as np


def largest(values: np.ndarray) -> np.ndarray:
    """The highest."""
    return np.asarray(np.fmax.reduce(values, axis=-1, initial=np.nan))


def smallest(values: np.ndarray) -> np.ndarray:
    """The lowest."""
    return np.asarray(np.fmin.reduce(values, axis=-1, initial=np.nan))
