"""Kendall's τ over the pairs of points that may be compared, plain and partial, with intervals.

Of pairs (i, j) of one stratum it is the correlation of the signs of x_i − x_j and y_i − y_j: how
many pairs both order alike, less how many they order the other way. With one stratum of all points
it is τ-b. With a stratum for each setting of all but one hyperparameter it is the granulated
coefficient of Jiang et al. (2020), the mean of τ over settings, where these have equally many
values and no ties. Given further variables z, it is what is left of that correlation when the signs
of z_i − z_j are taken out by least squares; for one z that is Kendall's own partial τ.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd

from flatlas.statistics.estimate import UNKNOWN, Estimate, estimate

# A variable of which less is left than this, of 1, is told by the ones that are given.
NOTHING = 1e-9
# Fewer clusters have no interval. Of three, two orders in six are perfect, up or down, and then it
# would be a point by chance; of four it is two in 24.
FEWEST = 4


@dataclass(frozen=True)
class Points:
    """Points that are compared within their `strata`; resampled are the `clusters` they are in.

    Both are labels, one a point.
    """

    strata: np.ndarray
    clusters: np.ndarray

    def tau(self, x: np.ndarray, y: np.ndarray, given: Sequence[np.ndarray] = ()) -> Estimate:
        """τ of x and y over the points where all is known, and its interval over clusters."""
        values = np.stack([np.asarray(one, float) for one in (x, y, *given)])
        known = np.isfinite(values).all(0)
        if not known.any():
            return UNKNOWN
        return _Signs(values[:, known], self.strata[known], self.clusters[known]).tau()


def tau(
    table: pd.DataFrame,
    x: str,
    y: str,
    strata: np.ndarray | pd.Series,
    given: Iterable[str] = (),
    clusters: str = "run",
) -> Estimate:
    """τ of two columns over pairs of rows of one stratum, given others; runs are resampled."""
    one, other, *rest = (table[column].to_numpy(float) for column in (x, y, *given))
    return Points(np.asarray(strata), table[clusters].to_numpy()).tau(one, other, rest)


@dataclass(frozen=True)
class _Signs:
    """The values of some variables (variables, points), all known."""

    values: np.ndarray
    strata: np.ndarray
    clusters: np.ndarray

    def tau(self) -> Estimate:
        count = int(self._places.max()) + 1
        known = count if count >= FEWEST else 1
        return estimate(self._of_clusters, np.arange(count), fewest=known)

    @cached_property
    def _places(self) -> np.ndarray:
        """Which of the clusters each point is in."""
        return np.unique(self.clusters, return_inverse=True)[1]

    @cached_property
    def _products(self) -> dict[tuple[int, int], np.ndarray]:
        """Sums over pairs of products of two signs (clusters, clusters), for each two variables."""
        order = np.argsort(self._places, kind="stable")
        begins = np.flatnonzero(np.diff(self._places[order], prepend=-1))
        strata = self.strata[order]
        alike = strata[:, np.newaxis] == strata
        signs = [np.sign(one[:, np.newaxis] - one) * alike for one in self.values[:, order]]
        return {
            (v, w): np.add.reduceat(np.add.reduceat(signs[v] * signs[w], begins, 0), begins, 1)
            for v, w in combinations_with_replacement(range(len(signs)), 2)
        }

    def _of_clusters(self, drawn: np.ndarray) -> np.ndarray:
        """τ of the clusters that were drawn (clusters, ...), some of them several times."""
        times = np.apply_along_axis(np.bincount, 0, drawn, minlength=len(drawn))
        times = np.moveaxis(times, 0, -1).astype(float)
        count = len(self.values)
        sums = np.empty((*times.shape[:-1], count, count))
        for (v, w), product in self._products.items():
            sums[..., v, w] = sums[..., w, v] = ((times @ product) * times).sum(-1)
        return _partial(sums)


def _partial(sums: np.ndarray) -> np.ndarray:
    """The correlation of the first two variables of (..., variables, variables), given the rest."""
    size = np.sqrt(np.einsum("...vv->...v", sums))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.nan_to_num(sums / (size[..., :, np.newaxis] * size[..., np.newaxis, :]))
    pair, beside, rest = r[..., :2, :2], r[..., :2, 2:], r[..., 2:, 2:]
    left = pair - beside @ np.linalg.pinv(rest, hermitian=True) @ np.swapaxes(beside, -1, -2)
    x, y = left[..., 0, 0], left[..., 1, 1]
    enough = (x > NOTHING) & (y > NOTHING)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(enough, left[..., 0, 1] / np.sqrt(x * y), np.nan))
