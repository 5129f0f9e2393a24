"""Claims on correlations over all nets of a sweep: for each of three coefficients, a claim."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from flatlas.scorecard.claims import Claim, Criterion
from flatlas.scorecard.nets import Nets
from flatlas.statistics.correlation import kendall, pearson, spearman

Coefficient = Callable[[np.ndarray, np.ndarray], np.ndarray]
COEFFICIENTS: dict[str, Coefficient] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}
# The first epoch at which a net makes no error on S.
ZERO_ERROR = "met+0"


@dataclass(frozen=True)
class Pair:
    """Two quantities of the same nets, each (realizations, values), and what they are called."""

    x: np.ndarray
    y: np.ndarray
    name: str


def correlated(
    nets: Nets, name: str, says: str, criteria: Mapping[str, Criterion], pair: Pair
) -> Iterator[Claim]:
    """How well two quantities go together."""
    for kind, coefficient in COEFFICIENTS.items():
        yield nets.claim(
            f"{name}_{kind}",
            says,
            f"{kind.capitalize()}'s coefficient of {pair.name}, over all nets",
            criteria[kind],
            _pooled(coefficient),
            pair.x,
            pair.y,
        )


def compared(
    nets: Nets, name: str, says: str, criterion: Criterion, pair: Pair, other: Pair
) -> Iterator[Claim]:
    """How much better a pair goes together than another one, realization by realization."""
    for kind in COEFFICIENTS:
        yield comparison(nets, f"{name}_{kind}", says, criterion, kind, pair, other)


def comparison(
    nets: Nets, name: str, says: str, criterion: Criterion, kind: str, pair: Pair, other: Pair
) -> Claim:
    """The same by one kind of coefficient."""
    return nets.claim(
        name,
        says,
        f"{kind.capitalize()}'s coefficient of {pair.name} less that of {other.name}",
        criterion,
        _difference(_pooled(COEFFICIENTS[kind])),
        *(pair.x, pair.y, other.x, other.y),
    )


def together(kind: str, pair: Pair) -> float:
    """One coefficient of a pair, over all nets."""
    return float(_pooled(COEFFICIENTS[kind])(pair.x, pair.y))


def accuracy(nets: Nets, measure: str = "prior", at: str = ZERO_ERROR) -> np.ndarray:
    """The generalization accuracy in percent, on E."""
    return 100 * (1 - nets.read(f"{measure}_summary", "test_error", at=at))


def log_prior(nets: Nets, measure: str = "prior", at: str = ZERO_ERROR) -> np.ndarray:
    """log10 P(f)."""
    return nets.read(f"{measure}_summary", "log10_p", at=at)


def flatness(
    nets: Nets, measure: str = "sharpness", column: str = "sharpness", at: str = ZERO_ERROR
) -> np.ndarray:
    """Minus log10 of the sharpness, or of what else is larger in a sharper place."""
    found = nets.read(f"{measure}_summary", column, at=at)
    logs = found if column.startswith("log10") else np.log10(np.where(found > 0, found, np.nan))
    return -logs


def _pooled(coefficient: Coefficient) -> Coefficient:
    """Over all nets, whatever realization and value."""
    return lambda x, y: coefficient(_flat(x), _flat(y))


def _difference(coefficient: Coefficient) -> Callable[..., np.ndarray]:
    return lambda x, y, other_x, other_y: coefficient(x, y) - coefficient(other_x, other_y)


def _flat(nets: np.ndarray) -> np.ndarray:
    """(realizations, ..., values) as (..., nets)."""
    moved = np.moveaxis(nets, 0, -1)
    return moved.reshape(*nets.shape[1:-1], -1)
