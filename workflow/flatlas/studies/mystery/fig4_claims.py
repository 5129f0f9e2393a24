"""Figure 4: what an α-scaling, which leaves the function as it is, does to each measure."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import JUMPS, ONLY_THE_FUNCTION, SMALL
from flatlas.claims.nets import Nets
from flatlas.evidence.material import ZERO_ERROR, Material
from flatlas.statistics.means import mean
from flatlas.studies.mystery.fig3_claims import FLATNESS, OURS
from flatlas.studies.mystery.measured import labels, place_of

BALL, CONTRAST = "scaled_regret_kl_ball", "scaled_contrast_summary"
CHANGE = "largest relative change with α, up or down; mean over nets"


def judge(material: Material) -> list[Claim]:
    """The regrets, and flatness beside contrastive flatness."""
    nets = Nets(material, "solution")
    return [*_regrets(nets), *_flatness(nets)]


def _regrets(nets: Nets) -> Iterator[Claim]:
    euclidean = _read(nets, "scaled_regret_summary", "regret", "factor")
    yield nets.claim(
        "regret",
        "the regret in a Euclidean ball is not invariant under re-parametrization",
        f"{CHANGE}, of R/ε",
        JUMPS,
        mean,
        _change(nets, "scaled_regret_summary", euclidean),
    )
    # Damped by diag F, it is not the same after every re-parametrization.
    for place, name, says in (
        (0, "kl_regret", "the regret in a KL-ball depends only on the function"),
        (-1, "damped_regret", "the regret in a damped KL-ball stays after an α-scaling"),
    ):
        measured, settled = (
            _at(_read(nets, BALL, column, "factor", "damping"), place)
            for column in ("regret", "converged")
        )
        claim = nets.claim(
            name,
            says,
            f"{CHANGE}, of R/ε in the KL-ball",
            ONLY_THE_FUNCTION,
            mean,
            _change(nets, BALL, measured),
            settled=(settled,),
        )
        yield replace(claim, ours=name in OURS)


def _flatness(nets: Nets) -> Iterator[Claim]:
    for flatness, says in FLATNESS.items():
        place = place_of(nets, CONTRAST, "flatness", flatness)
        of_mean, contrast, settled = (
            _at(_read(nets, CONTRAST, column, "factor", "flatness"), place)
            for column in ("of_mean", "contrast", "converged")
        )
        yield nets.claim(
            f"{flatness}_changes",
            "flatness is sensitive to re-parametrization",
            f"{CHANGE}, of flatness by {says}",
            JUMPS,
            mean,
            _change(nets, CONTRAST, of_mean),
            settled=(settled,),
        )
        yield nets.claim(
            f"{flatness}_contrast",
            "a ratio of two flatness measures changes much less than they do",
            f"largest factor by which contrastive flatness by {says} changes with α, in logarithms"
            " and relative to that of the flatness itself; ratio of means over nets",
            SMALL,
            lambda one, other: mean(one) / mean(other),
            _move(nets, contrast),
            _move(nets, of_mean),
            settled=(settled,),
        )


def _read(nets: Nets, table: str, column: str, *axes: str) -> np.ndarray:
    """Of the figure's only run: (realizations, *axes)."""
    return nets.read(table, column, *axes, at=ZERO_ERROR)[:, 0]


def _at(measured: np.ndarray, place: int | None) -> np.ndarray:
    return measured[..., place] if measured.size else measured[..., 0:0].reshape(len(measured), 0)


def _unscaled(nets: Nets, table: str, measured: np.ndarray) -> np.ndarray:
    """The values at α = 1, with an axis for α."""
    own = labels(nets, table, "factor").index(1.0)
    return measured[:, [own]]


def _change(nets: Nets, table: str, measured: np.ndarray) -> np.ndarray:
    """(realizations, factors) to the largest |value / value at α = 1 − 1| of each net."""
    if not measured.size:
        return measured
    return np.asarray(np.abs(measured / _unscaled(nets, table, measured) - 1).max(-1))


def _move(nets: Nets, measured: np.ndarray) -> np.ndarray:
    """The same, of the logarithm of the ratio."""
    if not measured.size:
        return measured
    ratio = measured / _unscaled(nets, CONTRAST, measured)
    return np.asarray(np.abs(np.log(np.where(ratio > 0, ratio, np.nan))).max(-1))
