"""Extremes of all that is known, along the last axis; NaN where nothing is."""

import numpy as np


def largest(values: np.ndarray) -> np.ndarray:
    """The highest."""
    return np.asarray(np.fmax.reduce(values, axis=-1, initial=np.nan))


def smallest(values: np.ndarray) -> np.ndarray:
    """The lowest."""
    return np.asarray(np.fmin.reduce(values, axis=-1, initial=np.nan))


def farthest(values: np.ndarray) -> np.ndarray:
    """What is farthest from zero, with its sign."""
    high, low = largest(values), smallest(values)
    return np.where(high >= -low, high, low)
