"""Kendall's τ over the pairs of points that may be compared, plain and partial, with intervals.

It is the correlation of the signs of x_i − x_j and y_i − y_j over pairs (i, j) in the same stratum:
the pairs that x and y order alike, minus those that they order differently. With one stratum of all
points it is τ-b. With a stratum for each setting of all but one hyperparameter it is the granulated
coefficient of Jiang et al. (2020), the mean of τ over settings, if these have equal numbers of
values and no ties. Given further variables z, it is the correlation left after removing the signs
of z_i − z_j by least squares; for one z that is Kendall's partial τ.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from flatlas.statistics.estimate import UNKNOWN, Estimate, jackknife

# The given variables determine another one if they leave less than this share of it.
NOTHING = 1e-9
# The least number of independent comparisons for an interval, as the mean over realizations: by
# chance, the order of three points is perfect, up or down, in one case of three, that of four
# points in one case of twelve. Each given variable takes one more comparison.
FEWEST = 3


def tau(
    table: pd.DataFrame,
    x: str,
    y: str,
    strata: np.ndarray,
    realizations: np.ndarray,
    given: Iterable[str] = (),
) -> Estimate:
    """τ of two columns given others, over the rows without missing values, and its interval.

    Rows are compared within their `strata`, each of which belongs to one of the `realizations`.
    Both are labels, one for each row. The interval is that of the jackknife over realizations: it
    describes the same points with other images and other random weights.
    """
    values = table[[x, y, *given]].to_numpy(float).T
    known = np.isfinite(values).all(0)
    values, strata, realizations = values[:, known], strata[known], realizations[known]
    places = [np.flatnonzero(realizations == one) for one in np.unique(realizations)]
    # n points of a stratum give n − 1 independent comparisons.
    compared = [len(place) - len(np.unique(strata[place])) for place in places]
    places = [place for place, count in zip(places, compared, strict=True) if count]
    if not places:
        return UNKNOWN
    left = sum(compared) / len(places) - (len(values) - 2)
    if len(values) > 2 and left <= 0:
        # With so few comparisons, least squares can explain everything and leave ±1 or nothing.
        return UNKNOWN
    sums = np.stack([_products(values[:, place], strata[place]) for place in places])
    found = jackknife(_partial, sums)
    if left < FEWEST:
        return Estimate(found.value, np.nan, np.nan)
    return Estimate(found.value, max(found.low, -1.0), min(found.high, 1.0))


def _products(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Sums of products of two signs over all pairs within a stratum, as (variables, variables)."""
    alike = strata[:, np.newaxis] == strata
    signs = np.sign(values[:, :, np.newaxis] - values[:, np.newaxis])[:, alike]
    return np.asarray(signs @ signs.T)


def _partial(sums: np.ndarray) -> np.ndarray:
    """The correlation of the first two variables of (..., variables, variables), given the rest."""
    size = np.sqrt(np.einsum("...vv->...v", sums))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.nan_to_num(sums / (size[..., :, np.newaxis] * size[..., np.newaxis, :]))
    pair, cross, rest = r[..., :2, :2], r[..., :2, 2:], r[..., 2:, 2:]
    left = pair - cross @ np.linalg.pinv(rest, hermitian=True) @ np.swapaxes(cross, -1, -2)
    x, y = left[..., 0, 0], left[..., 1, 1]
    enough = (x > NOTHING) & (y > NOTHING)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(enough, left[..., 0, 1] / np.sqrt(x * y), np.nan))
