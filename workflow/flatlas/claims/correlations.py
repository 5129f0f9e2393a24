"""Claims on correlations over the nets of a sweep, one for each of three coefficients.

A coefficient is computed for the nets of each realization, which share their images, as all nets of
a figure do in the papers. The mean over realizations is the claim's number.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flatlas.claims.claim import Claims, Criterion
from flatlas.claims.nets import Nets
from flatlas.statistics.correlation import kendall, pearson, spearman
from flatlas.statistics.pooling import Pooling, over_all_nets, within_realizations

Coefficient = Callable[[np.ndarray, np.ndarray], np.ndarray]
COEFFICIENTS: dict[str, Coefficient] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}

OVER: dict[Pooling, str] = {
    within_realizations: "in each realization, mean over these",
    over_all_nets: "over all nets",
}


@dataclass(frozen=True)
class Measured:
    """A quantity of nets as (realizations, values), and whether the search for it converged.

    `settled` is 1 where it did, 0 where it did not, and NaN where there was no search.
    """

    values: np.ndarray
    settled: np.ndarray


@dataclass(frozen=True)
class Pair:
    """Two quantities of the same nets, and the name of the pair."""

    x: Measured
    y: Measured
    name: str

    @property
    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """The values of both quantities."""
        return self.x.values, self.y.values

    @property
    def settled(self) -> tuple[np.ndarray, np.ndarray]:
        """Whether the searches for both converged."""
        return self.x.settled, self.y.settled


def correlated(
    nets: Nets,
    name: str,
    says: str,
    criteria: Mapping[str, Criterion],
    pair: Pair,
    pooling: Pooling = within_realizations,
) -> Claims:
    """Claims on how well two quantities correlate, one for each coefficient."""
    for kind, coefficient in COEFFICIENTS.items():
        yield nets.claim(
            f"{name}_{kind}",
            says,
            f"{kind.capitalize()}'s coefficient of {pair.name}, {OVER[pooling]}",
            criteria[kind],
            pooling(coefficient),
            *pair.values,
            settled=pair.settled,
        )


def _share(kind: str, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The ratio of two explained variances r²; Kendall's τ gives r as for normal data."""
    if kind == "kendall":
        one, other = (np.sin(np.pi / 2 * tau) for tau in (one, other))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((one / other) ** 2)


class Comparison(NamedTuple):
    """How to compare a kind of coefficient of two pairs: the function `of`, and its `words`."""

    words: str
    of: Callable[[str, np.ndarray, np.ndarray], np.ndarray]


# How much higher the coefficient of a pair is than another's, with their signs.
DIFFERENCE = Comparison(
    "{kind}'s coefficient of {pair} less that of {other}; means over realizations",
    lambda kind, one, other: one - other,
)
# How much more strongly a pair correlates than another, regardless of sign.
BETTER = Comparison(
    "size of the mean over realizations of {kind}'s coefficient of {pair}, less that of {other}",
    lambda kind, one, other: np.abs(one) - np.abs(other),
)
# How much of the variance a pair explains, relative to another. Coefficients of opposite signs in
# two realizations explain nothing together.
EXPLAINED = Comparison(
    "variance explained by the mean over realizations of {kind}'s coefficient of {pair}, relative"
    " to that of {other}",
    _share,
)


def compared(
    nets: Nets,
    name: str,
    says: str,
    criterion: Criterion,
    comparison: Comparison,
    pair: Pair,
    other: Pair,
) -> Claims:
    """Claims that compare the correlations of two pairs, one for each kind of coefficient."""
    for kind, coefficient in COEFFICIENTS.items():
        r = within_realizations(coefficient)
        yield nets.claim(
            f"{name}_{kind}",
            says,
            comparison.words.format(kind=kind.capitalize(), pair=pair.name, other=other.name),
            criterion,
            lambda x, y, x2, y2, r=r, kind=kind: comparison.of(kind, r(x, y), r(x2, y2)),
            *(*pair.values, *other.values),
            settled=(*pair.settled, *other.settled),
        )
