"""What the paper says of every system: the prior goes with generalization, and flatness less so."""

from collections.abc import Iterator

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import BROKEN, LOOSER, TIGHT
from flatlas.scorecard.nets import Nets
from flatlas.scorecard.prior.correlations import (
    Pair,
    accuracy,
    compared,
    correlated,
    flatness,
    log_prior,
)
from flatlas.store.material import Material

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


def prior_pair(nets: Nets) -> Pair:
    """The prior and generalization."""
    return Pair(log_prior(nets), accuracy(nets), "log10 P(f) with the accuracy")


def flatness_pair(nets: Nets) -> Pair:
    """Flatness and generalization."""
    return Pair(flatness(nets), accuracy(nets), "flatness with the accuracy")


def tight_prior(material: Material, sweep: str) -> Iterator[Claim]:
    """The prior goes tightly with generalization."""
    nets = Nets(material, sweep)
    says = f"P(f) correlates tightly with generalization: {called(sweep)}"
    return correlated(nets, f"prior_{sweep}", says, TIGHT, prior_pair(nets))


def looser_flatness(material: Material, sweep: str) -> Iterator[Claim]:
    """Flatness is more scattered."""
    nets = Nets(material, sweep)
    says = f"flatness correlates with generalization less tightly than P(f): {called(sweep)}"
    pairs = flatness_pair(nets), prior_pair(nets)
    return compared(nets, f"scatter_{sweep}", says, LOOSER, *pairs)


def broken_flatness(material: Material, sweep: str) -> Iterator[Claim]:
    """Flatness does not go with generalization."""
    nets = Nets(material, sweep)
    says = f"flatness does not correlate with generalization: {called(sweep)}"
    return correlated(nets, f"flatness_{sweep}", says, BROKEN, flatness_pair(nets))
