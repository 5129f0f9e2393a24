"""Power laws: straight lines between logarithms."""

import numpy as np

from flatlas.statistics.estimate import RESAMPLES, Estimate, estimate


def power_law(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope and intercept of log10 y over log10 x, by least squares along the last axis.

    Points where either is not positive, or not known, are left out; NaN where fewer than two are
    left. NumPy's own fit knows neither missing points nor many lines at once.
    """
    x, y = np.broadcast_arrays(x, y)
    known = (x > 0) & (y > 0) & np.isfinite(x) & np.isfinite(y)
    log_x, log_y = (np.log10(np.where(known, values, 1.0)) for values in (x, y))
    with np.errstate(invalid="ignore"):
        mean_x, mean_y = (logs.sum(-1) / known.sum(-1) for logs in (log_x, log_y))
        off_x = np.where(known, log_x - mean_x[..., np.newaxis], 0.0)
        slope = (off_x * log_y).sum(-1) / (off_x**2).sum(-1)
    return slope, mean_y - slope * mean_x


def exponent(x: np.ndarray, y: np.ndarray) -> Estimate:
    """The slope through all points of (realizations, directions), with its 95 % interval.

    Realizations and directions are drawn anew, each on their own (Owen, The pigeonhole bootstrap,
    2007): the directions of one realization share its net, those of one rank what all nets have in
    common there. The interval of a single realization knows of its directions only.
    """
    x, y = np.broadcast_arrays(x, y)
    realizations, directions = x.shape
    drawn = np.random.default_rng(0).integers(directions, size=(1, RESAMPLES, directions))

    def slope(*measured: np.ndarray) -> np.ndarray:
        if measured[0].ndim == 3:
            measured = tuple(np.take_along_axis(each, drawn, -1) for each in measured)
        points = (np.moveaxis(each, 0, -1) for each in measured)
        return power_law(*(each.reshape(*each.shape[:-2], -1) for each in points))[0]

    return estimate(slope, x, y, fewest=realizations if realizations > 1 else directions)
