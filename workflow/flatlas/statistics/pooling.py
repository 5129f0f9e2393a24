"""A statistic of nets: of all at once, or of those of each realization and then their mean."""

from collections.abc import Callable

import numpy as np

from flatlas.statistics.means import mean

Statistic = Callable[..., np.ndarray]
Pooling = Callable[[Statistic], Statistic]


def over_all_nets(statistic: Statistic) -> Statistic:
    """The statistic, which does away with the last axis, of arrays (realizations, ..., values)."""
    return lambda *measured: statistic(*map(_flat, measured))


def within_realizations(statistic: Statistic) -> Statistic:
    """The mean over realizations of the statistic of each one's own nets.

    Realizations have other images, to learn and to be tested on. Where those move a quantity more
    than what is varied does, an order of all nets would be one of data sets. Nor can the bootstrap
    tell how well it is known: a resample has fewer realizations that differ, and so less of what
    tells them apart, so that all nets at once go together better in it than in what it is of.
    """
    return lambda *measured: mean(statistic(*measured))


def _flat(measured: np.ndarray) -> np.ndarray:
    """(realizations, ..., values) as (..., nets)."""
    moved = np.moveaxis(measured, 0, -1)
    return moved.reshape(*measured.shape[1:-1], -1)
