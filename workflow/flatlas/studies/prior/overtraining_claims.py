"""Overtraining leaves the correlations of prior and flatness with generalization as they are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from flatlas.claims.claim import Claim, Criterion
from flatlas.claims.conventions import BARELY_OFF, BROKEN, CORRELATED
from flatlas.claims.correlations import (
    COEFFICIENTS,
    Pair,
    Quantity,
    accuracy,
    flatness,
    log_prior,
)
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.statistics.pooling import within_realizations
from flatlas.studies.prior.extremes import largest, smallest


class Flatness(NamedTuple):
    """What flatness is: the measure and column that tell it, and what it is called."""

    measure: str
    column: str
    what: str


class Level(NamedTuple):
    """What flatness does at each later moment, and at which of them it does so least."""

    says: str
    criteria: Mapping[str, Criterion]
    which: str
    extreme: Callable[[np.ndarray], np.ndarray]


# The paper's ascent by minibatches has too little time where losses are low.
CORNERS = Flatness("corners", "sharpness", "flatness by corners")
NORM = Flatness("hessian", "spectral_norm", "a small spectral norm")
TOP = Flatness("hessian", "log10_product", "a small geometric mean of the 50 largest eigenvalues")
LEVELS = {
    "sgd": Level("correlates", CORRELATED, "the smallest", smallest),
    "adam": Level(
        "does not correlate", BROKEN, "the largest, up or down,", lambda r: largest(np.abs(r))
    ),
}


def judge_overtrained(material: Material, sweep: str, flat: Flatness) -> list[Claim]:
    """The prior, and one measure of flatness, at zero error and at all later moments."""
    nets = Nets(material, sweep)
    measure, column, what = flat
    first = accuracy(nets)
    later = _later(nets, lambda at: accuracy(nets, "later_prior", at))
    later_prior = _later(nets, lambda at: log_prior(nets, "later_prior", at))
    later_flat = _later(nets, lambda at: flatness(nets, f"later_{measure}", column, at))
    overtrained = Pair(later_flat, later, what)
    return [
        *_unchanged(
            nets,
            f"prior_{sweep}",
            Pair(log_prior(nets), first, "P(f)"),
            Pair(later_prior, later, "P(f)"),
        ),
        *_unchanged(
            nets,
            f"flatness_{sweep}",
            Pair(flatness(nets, measure, column), first, what),
            overtrained,
        ),
        *_levels(nets, f"level_{sweep}", LEVELS[sweep], overtrained),
    ]


def _later(nets: Nets, read: Callable[[str], Quantity]) -> Quantity:
    """(realizations, moments, values)."""
    moments = nets.levels("later_prior_summary", "at")
    found = [read(str(at)) for at in moments]
    return Quantity(
        _side_by_side(nets, [one.values for one in found]),
        _side_by_side(nets, [one.settled for one in found]),
    )


def _side_by_side(nets: Nets, moments: Sequence[np.ndarray]) -> np.ndarray:
    """Of no moments too."""
    shape = len(moments), len(nets.seeds), len(nets.values)
    return np.moveaxis(np.reshape(moments, shape), 0, 1)


def _unchanged(nets: Nets, name: str, first: Pair, later: Pair) -> Iterator[Claim]:
    """Of all moments, each resample has its own that is farthest from zero error."""
    for kind, coefficient in COEFFICIENTS.items():
        r = within_realizations(coefficient)
        yield nets.claim(
            f"{name}_{kind}",
            f"overtraining leaves the correlation of {first.name} with generalization as it is",
            f"{kind.capitalize()}'s coefficient of {first.name} with the accuracy after the"
            " overtraining that changes it most, less that at zero error, up or down; means over"
            " realizations",
            BARELY_OFF,
            lambda x, y, x2, y2, r=r: largest(np.abs(r(x2, y2) - r(x, y)[..., np.newaxis])),
            *(*first.values, *later.values),
            settled=(*first.settled, *later.settled),
        )


def _levels(nets: Nets, name: str, level: Level, later: Pair) -> Iterator[Claim]:
    """Each resample has its own moment at which what is said holds least."""
    for kind, coefficient in COEFFICIENTS.items():
        r = within_realizations(coefficient)
        yield nets.claim(
            f"{name}_{kind}",
            f"{later.name} {level.says} with generalization after each amount of overtraining",
            f"{kind.capitalize()}'s coefficient of {later.name} with the accuracy, {level.which} of"
            " all later moments; means over realizations",
            level.criteria[kind],
            lambda x, y, r=r: level.extreme(r(x, y)),
            *later.values,
            settled=later.settled,
        )
