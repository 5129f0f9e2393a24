"""Correlation coefficients of many samples at once, some of whose points may be missing."""

import numpy as np
from scipy import stats

# Deviations smaller than this, relative to the values, are round-off of a constant.
CONSTANT = 1e-13


def pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's r along the last axis, over the points where both are finite.

    NaN where either is constant, or where fewer than two points are left.
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


def _paired(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y = np.broadcast_arrays(x, y)
    return x, y, np.isfinite(x) & np.isfinite(y)


def _deviations(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """From the mean of what is known; zero elsewhere, and everywhere on a constant."""
    values = np.where(known, values, 0.0)
    with np.errstate(invalid="ignore"):
        mean = values.sum(-1, keepdims=True) / known.sum(-1, keepdims=True)
    deviations = np.where(known, values - mean, 0.0)
    size = np.abs(values).max(-1, keepdims=True, initial=0.0)
    varies = np.abs(deviations).max(-1, keepdims=True, initial=0.0) > CONSTANT * size
    return np.where(varies, deviations, 0.0)


def _ranks(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """What is unknown ranks above all the rest, and so changes no other's rank."""
    return np.asarray(stats.rankdata(np.where(known, values, np.inf), axis=-1))
