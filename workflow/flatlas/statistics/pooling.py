"""A statistic of nets: of all at once, or of those of each realization and then their mean."""

from collections.abc import Callable, Sequence

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
    return lambda *measured: mean(_of_each(statistic, measured))


def _of_each(statistic: Statistic, measured: Sequence[np.ndarray]) -> np.ndarray:
    """The statistic of each realization of each resample (realizations, resamples, ..., values).

    Resamples hold the same few realizations again and again. Each is taken once.
    """
    if any(one.ndim < 3 for one in measured):
        return statistic(*measured)
    drawn = measured[0].shape[:2]
    each = [one.reshape(-1, *one.shape[2:]) for one in measured]
    rows = np.concatenate([one.reshape(len(one), -1) for one in each], axis=1)
    bits = np.ascontiguousarray(rows).view(f"V{rows.itemsize * rows.shape[1]}").ravel()
    _, first, which = np.unique(bits, return_index=True, return_inverse=True)
    found = statistic(*(one[first] for one in each))
    return found[which].reshape(*drawn, *found.shape[1:])


def _flat(measured: np.ndarray) -> np.ndarray:
    """(realizations, ..., values) as (..., nets)."""
    moved = np.moveaxis(measured, 0, -1)
    return moved.reshape(*measured.shape[1:-1], -1)
