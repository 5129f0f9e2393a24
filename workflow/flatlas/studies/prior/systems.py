"""The systems and optimizers, one sweep each: their names and the claims that they share."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from flatlas.claims import conventions
from flatlas.claims.claim import Claim, Claims
from flatlas.claims.correlations import (
    BETTER,
    DIFFERENCE,
    EXPLAINED,
    Measured,
    Pair,
    compared,
    correlated,
)
from flatlas.claims.nets import Nets
from flatlas.evidence.material import ZERO_ERROR, Material
from flatlas.statistics.pooling import Pooling, over_all_nets, within_realizations
from flatlas.studies.prior.nets import ATTACK, runs_of
from flatlas.studies.prior.quantities import FLATNESS, LOG_PRIOR, Quantity, paired

OPTIMIZERS = {
    "sgd": "SGD",
    "adam": "Adam",
    "entropy_sgd": "Entropy-SGD",
    "adagrad": "Adagrad",
    "momentum": "Momentum",
    "rmsprop": "RMSProp",
    "full_batch": "full-batch GD",
}
# Full-batch gradient descent by learning rate; the second is that of Figure S18.
RATES = {
    "full_batch_slow": "full-batch GD, small rate",
    "full_batch": "full-batch GD",
    "full_batch_fast": "full-batch GD, large rate",
}
# Presets may use other images than the paper, but of the same kind.
SYSTEMS = {
    "sgd": "FCN, handwritten digits",
    "cifar": "FCN, colour images",
    "residual": "residual net, colour images",
    "residual_adam": "residual net, Adam",
    "many_images": "FCN, many handwritten digits",
    "boolean": "Boolean functions",
}
# The names of sweeps in claims.
CALLED = OPTIMIZERS | {
    "full_batch": "full-batch gradient descent",
    "full_batch_slow": "full-batch gradient descent at a small rate",
    "full_batch_fast": "full-batch gradient descent at a large rate",
    "cifar": "SGD on colour images",
    "residual": "SGD and the residual net",
    "residual_adam": "Adam and the residual net",
    "many_images": "SGD with many images",
    "boolean": "Boolean functions",
}
# Optimizers of Figures 4 and S7 that break the correlation of flatness.
BREAKING = ("adam", "entropy_sgd")


def columns(material: Material, names: Mapping[str, str]) -> dict[str, str]:
    """The figure's sweeps with their names; a user's own sweep keeps the name it has."""
    return {sweep: names.get(sweep, sweep) for sweep in material.sweeps}


def called(sweep: str) -> str:
    """The name of a sweep in a claim; a user's own sweep keeps the name it has."""
    return CALLED.get(sweep, sweep)


def pooling(sweep: str) -> Pooling:
    """How to pool a sweep: each Boolean function is a separate realization, with one net."""
    return over_all_nets if sweep == "boolean" else within_realizations


def tight_prior(material: Material, sweep: str) -> Claims:
    """The claims that the prior correlates tightly with generalization."""
    nets = Nets(material, sweep)
    says = f"P(f) correlates tightly with generalization: {called(sweep)}"
    return correlated(nets, f"prior_{sweep}", says, conventions.TIGHT, paired(nets, LOG_PRIOR))


def correlated_flatness(material: Material, sweep: str) -> Claims:
    """The claims that flatness correlates with generalization."""
    nets = Nets(material, sweep)
    says = f"flatness correlates with generalization: {called(sweep)}"
    return correlated(
        nets, f"flatness_{sweep}", says, conventions.CORRELATED, paired(nets, FLATNESS)
    )


def broken_flatness(material: Material, sweep: str, flat: Quantity = FLATNESS) -> Claims:
    """The claims that flatness does not correlate with generalization."""
    nets = Nets(material, sweep)
    says = f"{flat.what} does not correlate with generalization: {called(sweep)}"
    return correlated(nets, f"{flat.name}_{sweep}", says, conventions.BROKEN, paired(nets, flat))


def looser_flatness(material: Material, sweep: str, flat: Quantity) -> Claims:
    """The claims that flatness correlates with generalization, but less tightly than the prior."""
    nets = Nets(material, sweep)
    says = f"{flat.what} correlates with generalization less tightly than P(f): {called(sweep)}"
    pairs = paired(nets, flat), paired(nets, LOG_PRIOR)
    return compared(nets, _scatter(flat, sweep), says, conventions.LOOSER, BETTER, *pairs)


def scattered_flatness(material: Material, sweep: str, flat: Quantity = FLATNESS) -> Claims:
    """The claims that flatness scatters much more against generalization than the prior."""
    nets = Nets(material, sweep)
    says = f"{flat.what} against generalization is much more scattered than P(f): {called(sweep)}"
    pairs = paired(nets, flat), paired(nets, LOG_PRIOR)
    return compared(nets, _scatter(flat, sweep), says, conventions.MUCH_LOOSER, EXPLAINED, *pairs)


def _scatter(flat: Quantity, sweep: str) -> str:
    """The name of such a claim: `scatter_sgd` for flatness, `rest_scatter_sgd` for its rest."""
    return flat.name.replace("flatness", f"scatter_{sweep}")


def curvature(material: Material, sweep: str) -> Claim:
    """The claim that sharpness measures curvature, as the paper says, not just the gradient."""
    nets = Nets(material, sweep)
    first, whole, settled = (
        nets.read("corners_summary", column, at=ZERO_ERROR)
        for column in ("first_order", "sharpness", "converged")
    )
    return nets.mean_claim(
        f"first_order_{sweep}",
        "at zero error sharpness measures curvature: its first-order part, the gradient's, is a"
        f" small share ({called(sweep)})",
        "first-order part of the sharpness by corners, as a share of it",
        conventions.SMALL,
        first / np.where(whole > 0, whole, np.nan),
        settled=(settled,),
    )


def weakened_flatness(material: Material, sweep: str, flat: Quantity = FLATNESS) -> Claims:
    """The claims that flatness correlates less with generalization than under SGD."""
    nets, sgd, other = against_sgd(material, sweep, flat)
    says = (
        f"on the same attack sets {flat.what} correlates better with generalization under SGD than"
        f" under {called(sweep)}"
    )
    return compared(
        nets, f"sgd_{sweep}_{flat.name}", says, conventions.TIGHTER, DIFFERENCE, sgd, other
    )


def same_prior(material: Material, sweep: str) -> Claims:
    """The claims that the prior correlates with generalization as under SGD."""
    nets, sgd, other = against_sgd(material, sweep, LOG_PRIOR)
    says = f"on the same attack sets P(f) follows generalization under SGD as under {called(sweep)}"
    return compared(nets, f"sgd_{sweep}_prior", says, conventions.BARELY, DIFFERENCE, sgd, other)


def against_sgd(material: Material, sweep: str, quantity: Quantity) -> tuple[Nets, Pair, Pair]:
    """A quantity of the nets of SGD and of another optimizer, on the same attack sets."""
    words = {"sgd": "under SGD", sweep: f"under {called(sweep)}"}
    return two_sweeps(material, quantity, words, same_sets=True)


def two_sweeps(
    material: Material, quantity: Quantity, names: Mapping[str, str], same_sets: bool = False
) -> tuple[Nets, Pair, Pair]:
    """A quantity paired with generalization in each of two sweeps; `names` has words for both.

    Both are read from one `Nets`, so that resamples draw the same realizations of both. With
    `same_sets`, the nets of both sweeps on one attack set are in the same column, and count where
    both are known.
    """
    nets = Nets(material, tuple(names))
    runs = runs_of(nets)
    places = [np.flatnonzero(runs["sweep"] == sweep) for sweep in names]
    if same_sets:
        same = np.equal.outer(*(runs[ATTACK].to_numpy()[here] for here in places))
        places = [here[rows] for here, rows in zip(places, np.nonzero(same), strict=True)]
    whole = paired(nets, quantity)
    one, other = (
        Pair(_columns(whole.x, here), _columns(whole.y, here), f"{whole.name} {words}")
        for here, words in zip(places, names.values(), strict=True)
    )
    if same_sets:
        known = np.all(np.isfinite([*one.values, *other.values]), axis=0)
        one, other = _where(known, one), _where(known, other)
    return nets, one, other


def _columns(whole: Measured, places: np.ndarray) -> Measured:
    return Measured(whole.values[:, places], whole.settled[:, places])


def _where(counts: np.ndarray, pair: Pair) -> Pair:
    """The pair with only the nets that count; the others, and their searches, become unknown."""
    x, y = (
        Measured(*(np.where(counts, part, np.nan) for part in (one.values, one.settled)))
        for one in (pair.x, pair.y)
    )
    return replace(pair, x=x, y=y)
