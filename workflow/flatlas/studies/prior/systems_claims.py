"""What the paper says of every system: the prior goes with generalization, and flatness less so."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BROKEN, CORRELATED, LOOSER, MUCH_LOOSER, SMALL, TIGHT
from flatlas.claims.correlations import (
    Pair,
    Quantity,
    accuracy,
    compared,
    correlated,
    flatness,
    log_prior,
    scattered,
)
from flatlas.claims.nets import Nets
from flatlas.evidence.material import ZERO_ERROR, Material
from flatlas.statistics.means import mean
from flatlas.statistics.pooling import Pooling, over_all_nets, within_realizations

NAMES = {
    "sgd": "SGD",
    "adam": "Adam",
    "entropy_sgd": "Entropy-SGD",
    "adagrad": "Adagrad",
    "momentum": "Momentum",
    "rmsprop": "RMSProp",
    "full_batch": "full-batch gradient descent",
    "cifar": "SGD on colour images",
    "residual": "SGD and the residual net",
    "residual_adam": "Adam and the residual net",
    "many_images": "SGD with many images",
    "boolean": "Boolean functions",
}


def drawn(material: Material) -> list[str]:
    """The sweeps of the figure."""
    return list(material.tables["outcomes"]["sweep"].unique())


def called(sweep: str) -> str:
    """A sweep that the paper does not have goes by its own name."""
    return NAMES.get(sweep, sweep)


def pooling(sweep: str) -> Pooling:
    """Each Boolean function is a realization of its own, of one net."""
    return over_all_nets if sweep == "boolean" else within_realizations


def prior_pair(nets: Nets) -> Pair:
    """The prior and generalization."""
    return Pair(log_prior(nets), accuracy(nets), "log10 P(f) with the accuracy")


def flatness_pair(nets: Nets) -> Pair:
    """Flatness and generalization."""
    return Pair(flatness(nets), accuracy(nets), "flatness with the accuracy")


def rest_pair(nets: Nets) -> Pair:
    """The same by what the first-order part of the sharpness leaves of it, where that is positive.

    By corners, since what an ascent misses would be missing in the remainder.
    """
    rest = flatness(nets, "corners", "rest")
    return Pair(rest, accuracy(nets), "flatness by the remainder with the accuracy")


def beside(
    material: Material, pair: Callable[[Nets], Pair], sweeps: Mapping[str, str]
) -> tuple[Nets, Pair, Pair]:
    """A pair of two `sweeps`, of which this is what they are called.

    Their nets are as those of one, so that their realizations are drawn together.
    """
    nets = Nets(material, tuple(sweeps))
    whole, sweep_of = pair(nets), nets.outcomes.set_index("run")["sweep"].to_dict()
    one, other = (
        Pair(_part(whole.x, here), _part(whole.y, here), f"{whole.name} {name}")
        for sweep, name in sweeps.items()
        for here in [[sweep_of.get(run) == sweep for run in nets.values]]
    )
    return nets, one, other


def _part(whole: Quantity, here: list[bool]) -> Quantity:
    return Quantity(whole.values[:, here], whole.settled[:, here])


class Flatness(NamedTuple):
    """Flatness, or what is left of it: how its claims begin and call it, and its pair."""

    prefix: str
    what: str
    pair: Callable[[Nets], Pair]


WHOLE = Flatness("", "flatness", flatness_pair)
REST = Flatness("rest_", "flatness beyond first order", rest_pair)


def tight_prior(material: Material, sweep: str) -> Iterator[Claim]:
    """The prior goes tightly with generalization."""
    nets = Nets(material, sweep)
    says = f"P(f) correlates tightly with generalization: {called(sweep)}"
    return correlated(nets, f"prior_{sweep}", says, TIGHT, prior_pair(nets))


def looser_flatness(material: Material, sweep: str, of: Flatness = WHOLE) -> Iterator[Claim]:
    """Flatness goes with generalization too, but less so."""
    nets = Nets(material, sweep)
    says = f"{of.what} correlates with generalization less tightly than P(f): {called(sweep)}"
    name = f"{of.prefix}scatter_{sweep}"
    return compared(nets, name, says, LOOSER, of.pair(nets), prior_pair(nets))


def scattered_flatness(material: Material, sweep: str, of: Flatness = WHOLE) -> Iterator[Claim]:
    """Flatness goes with generalization far less."""
    nets = Nets(material, sweep)
    says = f"{of.what} against generalization is much more scattered than P(f): {called(sweep)}"
    name = f"{of.prefix}scatter_{sweep}"
    return scattered(nets, name, says, MUCH_LOOSER, of.pair(nets), prior_pair(nets))


def correlated_flatness(material: Material, sweep: str) -> Iterator[Claim]:
    """Flatness goes with generalization."""
    nets = Nets(material, sweep)
    says = f"flatness correlates with generalization: {called(sweep)}"
    return correlated(nets, f"flatness_{sweep}", says, CORRELATED, flatness_pair(nets))


def broken_flatness(material: Material, sweep: str, of: Flatness = WHOLE) -> Iterator[Claim]:
    """Flatness does not go with generalization."""
    nets = Nets(material, sweep)
    says = f"{of.what} does not correlate with generalization: {called(sweep)}"
    return correlated(nets, f"{of.prefix}flatness_{sweep}", says, BROKEN, of.pair(nets))


def curvature(material: Material, sweep: str) -> Claim:
    """Sharpness, which the paper takes for curvature, is not the gradient's."""
    nets = Nets(material, sweep)
    first, whole, settled = (
        nets.read("corners_summary", column, at=ZERO_ERROR)
        for column in ("first_order", "sharpness", "converged")
    )
    return nets.claim(
        f"first_order_{sweep}",
        "at zero error sharpness tells of curvature: its first-order part, the gradient's, is a"
        f" small share ({called(sweep)})",
        "first-order part of the sharpness by corners, as a share of it; mean over nets",
        SMALL,
        lambda share: mean(mean(share), -1),
        first / np.where(whole > 0, whole, np.nan),
        settled=(settled,),
    )
