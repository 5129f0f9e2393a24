"""A statistic of all nets at once, whatever realization and run they are of."""

from collections.abc import Callable

import numpy as np

Statistic = Callable[..., np.ndarray]


def over_all_nets(statistic: Statistic) -> Statistic:
    """The statistic, which does away with the last axis, of arrays (realizations, ..., values)."""
    return lambda *measured: statistic(*map(_flat, measured))


def _flat(measured: np.ndarray) -> np.ndarray:
    """(realizations, ..., values) as (..., nets)."""
    moved = np.moveaxis(measured, 0, -1)
    return moved.reshape(*measured.shape[1:-1], -1)
