"""Kendall's τ over the pairs of points that may be compared, plain and partial, with intervals.

It is the correlation of the signs of x_i − x_j and y_i − y_j over pairs (i, j) in the same stratum:
the pairs that both order alike, minus those that they order differently. With one stratum of all
points it is τ-b. With a stratum for each setting of all but one hyperparameter it is the granulated
coefficient of Jiang et al. (2020), the mean of τ over settings, if these have equal numbers of
values and no ties. Given further variables z, it is the correlation left after removing the signs
of z_i − z_j by least squares; for one z that is Kendall's partial τ.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from flatlas.statistics.estimate import UNKNOWN, Estimate, estimate

# A variable is determined by the given ones if they leave less than this share of it.
NOTHING = 1e-9
# The least number of independent comparisons of clusters for an interval. For five clusters in one
# stratum two orders in 120 are perfect, up or down; for four already two in 24. Each given variable
# takes one more.
FEWEST = 4


def tau(
    table: pd.DataFrame,
    x: str,
    y: str,
    strata: np.ndarray | pd.Series,
    clusters: np.ndarray | pd.Series,
    given: Iterable[str] = (),
) -> Estimate:
    """τ of two columns given others, over the rows without missing values, and its interval.

    Rows are compared within their `strata`; the bootstrap resamples their `clusters`. Both are
    labels, one for each row.
    """
    values = table[[x, y, *given]].to_numpy(float).T
    known = np.isfinite(values).all(0)
    if not known.any():
        return UNKNOWN
    return _Pairs(values[:, known], np.asarray(strata)[known], np.asarray(clusters)[known]).tau()


@dataclass(frozen=True)
class _Pairs:
    """The values of some variables (variables, points), all known."""

    values: np.ndarray
    strata: np.ndarray
    clusters: np.ndarray

    def tau(self) -> Estimate:
        count = len(self._begins)
        given = len(self.values) - 2
        # Clusters connected by comparisons, also through others, give one comparison fewer than
        # clusters.
        groups, _ = connected_components(self._sums_of_clusters(self._alike) > 0)
        compared = count - groups
        if 0 < given >= compared:
            # With fewer, least squares can explain everything and leave ±1 or nothing.
            return UNKNOWN
        known = compared + 1 if compared >= FEWEST + given else 1
        return estimate(self._of_clusters, np.arange(count), fewest=known)

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self.clusters, kind="stable")

    @cached_property
    def _begins(self) -> np.ndarray:
        """The position in that order at which each cluster begins."""
        return np.unique(self.clusters[self._order], return_index=True)[1]

    @cached_property
    def _alike(self) -> np.ndarray:
        """Whether two points are in the same stratum (points, points)."""
        strata = self.strata[self._order]
        return np.asarray(strata[:, np.newaxis] == strata)

    def _sums_of_clusters(self, pairs: np.ndarray) -> np.ndarray:
        by_row = np.add.reduceat(pairs.astype(float), self._begins, 0)
        return np.asarray(np.add.reduceat(by_row, self._begins, 1))

    @cached_property
    def _products(self) -> dict[tuple[int, int], np.ndarray]:
        """Sums over pairs of products of two signs (clusters, clusters), for each two variables."""
        values = self.values[:, self._order]
        signs = [np.sign(one[:, np.newaxis] - one) * self._alike for one in values]
        return {
            (v, w): self._sums_of_clusters(signs[v] * signs[w])
            for v, w in combinations_with_replacement(range(len(signs)), 2)
        }

    def _of_clusters(self, drawn: np.ndarray) -> np.ndarray:
        """τ of the clusters that were drawn (clusters, ...), some of them several times.

        Each copy is a separate cluster, but copies are not compared with each other: pairs within a
        cluster would count twice as often as pairs between two, and shift the interval off the
        value.
        """
        clusters, resamples = len(drawn), drawn.reshape(len(drawn), -1)
        places = resamples + clusters * np.arange(resamples.shape[1])
        times = np.bincount(places.ravel(), minlength=resamples.size).astype(float)
        times = times.reshape(*drawn.shape[1:], clusters)
        count = len(self.values)
        sums = np.empty((*times.shape[:-1], count, count))
        for (v, w), product in self._products.items():
            within = np.diag(product)
            between = ((times @ (product - np.diag(within))) * times).sum(-1)
            sums[..., v, w] = sums[..., w, v] = between + times @ within
        return _partial(sums)


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
