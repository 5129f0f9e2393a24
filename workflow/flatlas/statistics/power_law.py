"""Power laws: straight lines between logarithms."""

import numpy as np

from flatlas.statistics.correlation import deviations


def power_law(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope and intercept of log10 y over log10 x, by least squares along the last axis.

    Points where x or y is unknown or not positive are left out. NaN if fewer than two are left, or
    if x is constant. NumPy's fit supports neither missing points nor many lines at once.
    """
    x, y = np.broadcast_arrays(x, y)
    known = (x > 0) & (y > 0) & np.isfinite(x) & np.isfinite(y)
    log_x, log_y = (np.log10(np.where(known, values, 1.0)) for values in (x, y))
    with np.errstate(invalid="ignore"):
        mean_x, mean_y = (logs.sum(-1) / known.sum(-1) for logs in (log_x, log_y))
        off_x = deviations(log_x, known)
        power = (off_x * log_y).sum(-1) / (off_x**2).sum(-1)
    return power, mean_y - power * mean_x


def slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The exponent of y over x, along the last axis."""
    return power_law(x, y)[0]
