"""Checks of the input for the probability of a pattern of signs."""

from typing import Any

import numpy as np
from torch import Tensor

from flatlas.errors import FlatlasError

Arrays = type[Tensor] | type[np.ndarray]


def refuse_patterns(covariance: Any, signs: Any, kind: Arrays, dimensions: int) -> None:
    """Raise an error unless the covariance is (n, n) and all signs, (..., n), are -1 or 1."""
    for name, given in (("covariance", covariance), ("signs", signs)):
        if not isinstance(given, kind):
            raise FlatlasError(
                f"{name} is of type {type(given).__name__}. "
                f"Allowed: {kind.__module__}.{kind.__name__}."
            )
    n = covariance.shape[-1] if covariance.ndim else 0
    if covariance.shape != (n, n) or signs.shape[-1:] != (n,) or signs.ndim != dimensions:
        wanted = "(n,)" if dimensions == 1 else "(functions, n)"
        raise FlatlasError(
            f"the covariance has shape {tuple(covariance.shape)} and the signs "
            f"{tuple(signs.shape)}. Allowed: (n, n) and {wanted}."
        )
    if not (abs(signs) == 1).all():
        raise FlatlasError(
            "signs have numbers other than -1 and 1. From labels 0 and 1, give 2 * labels - 1."
        )
