"""A statistic of all nets at once, or of each realization's nets, averaged."""

from collections.abc import Callable, Sequence

import numpy as np

from flatlas.statistics.means import mean

Statistic = Callable[..., np.ndarray]
Pooling = Callable[[Statistic], Statistic]


def over_all_nets(statistic: Statistic) -> Statistic:
    """The statistic, which reduces the last axis, of arrays (realizations, ..., values)."""
    return lambda *measured: statistic(*map(_flat, measured))


def within_realizations(statistic: Statistic) -> Statistic:
    """The statistic of each realization's nets, averaged over realizations.

    Realizations have different training and test images. If the images change a quantity more than
    the varied setting does, ranking all nets together would rank data sets. The bootstrap can't
    estimate the error of such a ranking either: a resample has fewer distinct realizations, and so
    less difference between them, so all nets together correlate better in a resample than in the
    original.
    """
    return lambda *measured: mean(_of_each(statistic, measured))


def _of_each(statistic: Statistic, measured: Sequence[np.ndarray]) -> np.ndarray:
    """The statistic of each realization of each resample (realizations, resamples, ..., values).

    Resamples repeat the same few realizations. The statistic of each is computed once.
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
