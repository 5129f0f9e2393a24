"""Overtraining leaves the correlations of prior and flatness with generalization as they are."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import BARELY
from flatlas.scorecard.nets import Nets
from flatlas.scorecard.prior.correlations import (
    COEFFICIENTS,
    Pair,
    accuracy,
    comparison,
    flatness,
    log_prior,
    together,
)
from flatlas.store.material import Material


class Flatness(NamedTuple):
    """What flatness is: its name in claims, and the measure and column that tell it."""

    claim: str
    measure: str
    column: str
    what: str


SHARPNESS = Flatness("flatness", "sharpness", "sharpness", "flatness")
CORNERS = Flatness("corners", "corners", "sharpness", "flatness by corners")
NORM = Flatness("flatness", "hessian", "spectral_norm", "a small spectral norm")
PRODUCT = Flatness("flatness", "hessian", "log10_product", "a small product")


def judge_overtrained(material: Material, sweep: str, *flatnesses: Flatness) -> list[Claim]:
    """The prior, and what measures tell of flatness, at zero error and at later moments."""
    nets = Nets(material, sweep)
    moments = [str(one) for one in nets.levels("later_prior_summary", "at")]
    first = accuracy(nets)
    later = [accuracy(nets, "later_prior", at) for at in moments]
    quantities = {
        "prior": (
            Pair(log_prior(nets), first, "P(f)"),
            [log_prior(nets, "later_prior", at) for at in moments],
        ),
        **{
            one.claim: (
                Pair(flatness(nets, one.measure, one.column), first, one.what),
                [flatness(nets, f"later_{one.measure}", one.column, at) for at in moments],
            )
            for one in flatnesses
        },
    }
    return [
        claim
        for name, (pair, found) in quantities.items()
        for pairs in [[Pair(*both, pair.name) for both in zip(found, later, strict=True)]]
        for claim in _unchanged(nets, f"{name}_{sweep}", pair, pairs)
    ]


def _unchanged(nets: Nets, name: str, first: Pair, later: Sequence[Pair]) -> Iterator[Claim]:
    """One moment for all resamples: that at which the coefficient is farthest from the first."""
    for kind in COEFFICIENTS:
        start = together(kind, first)
        off = [abs(together(kind, pair) - start) for pair in later]
        # Where there is nothing later, nothing is compared.
        there = later[int(np.argmax(np.nan_to_num(off)))] if later else _nothing(first)
        yield comparison(
            nets,
            f"{name}_{kind}",
            f"overtraining leaves the correlation of {first.name} with generalization as it is",
            BARELY,
            kind,
            Pair(there.x, there.y, "both after the overtraining that changes it most"),
            Pair(first.x, first.y, "both at zero error"),
        )


def _nothing(pair: Pair) -> Pair:
    return Pair(pair.x[:, :0], pair.y[:, :0], pair.name)
