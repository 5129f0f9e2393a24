"""Checks of the input for the probability of a pattern of signs."""

from math import inf
from typing import Any

import numpy as np
from torch import Tensor

from flatlas.errors import FlatlasError

Arrays = type[Tensor] | type[np.ndarray]
# Correlations that should be equal may differ by this much: a kernel may have been in float32.
SYMMETRIC = 1e-4
# Rows that are compared at a time: for 10,000 points a matrix takes 800 MB.
STRIP = 256


def refuse_patterns(covariance: Any, signs: Any, kind: Arrays, dimensions: int) -> None:
    """Raise an error unless the signs, (..., n), are -1 or 1 and the matrix (n, n) is symmetric.

    Whether it is positive semidefinite shows when it is factorized.
    """
    for name, given in (("covariance", covariance), ("signs", signs)):
        if not isinstance(given, kind):
            raise FlatlasError(
                f"{name} is of type {type(given).__name__}. "
                f"Allowed: {kind.__module__}.{kind.__name__}."
            )
    n = covariance.shape[-1] if covariance.ndim else 0
    if not n or covariance.shape != (n, n) or signs.shape[-1:] != (n,) or signs.ndim != dimensions:
        wanted = "(n,)" if dimensions == 1 else "(functions, n)"
        raise FlatlasError(
            f"the covariance has shape {tuple(covariance.shape)} and the signs "
            f"{tuple(signs.shape)}. Allowed: (n, n) and {wanted}, n at least 1."
        )
    if not (abs(signs) == 1).all():
        raise FlatlasError(
            "signs have numbers other than -1 and 1. From labels 0 and 1, give 2 * labels - 1."
        )
    _refuse_asymmetry(covariance)


def _refuse_asymmetry(covariance: Any) -> None:
    strips = [slice(start, start + STRIP) for start in range(0, len(covariance), STRIP)]
    finite = all((abs(covariance[rows]) < inf).all() for rows in strips)
    if not finite or not (covariance.diagonal() > 0).all():
        raise FlatlasError(
            "the covariance has variances that are not positive, or entries that are NaN or "
            "infinite, so no function has a prior. Give images for which the net's output varies."
        )
    deviation = covariance.diagonal() ** 0.5
    off = 0.0
    for rows in strips:
        difference = abs(covariance[rows] - covariance[:, rows].T)
        off = max(off, float((difference / deviation / deviation[rows, None]).max()))
    if off > SYMMETRIC:
        raise FlatlasError(
            "the covariance is not symmetric: its correlations differ from those of the "
            f"transpose by up to {off:.2g}. Give a symmetric one."
        )
