"""A number from many directions of a few realizations, with its interval over both."""

from collections.abc import Callable

import numpy as np

from flatlas.statistics.estimate import RESAMPLES, Estimate, estimate


def over_directions(statistic: Callable[..., np.ndarray], *measured: np.ndarray) -> Estimate:
    """The statistic of all points of (realizations, directions), with its 95 % interval.

    Realizations and directions are resampled independently (Owen, The pigeonhole bootstrap, 2007):
    the directions of one realization share its net, and those of one rank share what nets have in
    common at that rank. The interval of a single realization covers its directions only. The
    statistic reduces the last axis, that of the points.
    """
    measured = np.broadcast_arrays(*measured)
    realizations, directions = measured[0].shape
    drawn = np.random.default_rng(0).integers(directions, size=(1, RESAMPLES, directions))

    def pooled(*arrays: np.ndarray) -> np.ndarray:
        if arrays[0].ndim == 3:
            arrays = tuple(np.take_along_axis(each, drawn, -1) for each in arrays)
        points = (np.moveaxis(each, 0, -1) for each in arrays)
        return statistic(*(each.reshape(*each.shape[:-2], -1) for each in points))

    fewest = realizations if realizations > 1 else directions
    return estimate(pooled, *measured, fewest=fewest)
