"""Not in the paper: whether P(f) and flatness tell more than the size of the attack set does."""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import TELLS
from flatlas.claims.correlations import (
    Pair,
    Quantity,
    accuracy,
    correlated,
    flatness,
    log_prior,
)
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.studies.prior.systems_claims import drawn

ATTACK = "data.attack_size"


def judge(material: Material) -> list[Claim]:
    """Without wrong labels, and with them."""
    nets = Nets(material, tuple(drawn(material)))
    size_of = nets.outcomes.drop_duplicates("run").set_index("run")[ATTACK]
    sizes = np.array([float(size_of.get(run, np.nan)) for run in nets.values])
    return ours(
        claim
        for name, says, measured in (
            ("prior", "more probable", log_prior(nets)),
            ("flatness", "flatter", flatness(nets)),
        )
        for claim in _tells(nets, name, says, measured, sizes)
    )


def _tells(
    nets: Nets, name: str, says: str, measured: Quantity, sizes: np.ndarray
) -> Iterator[Claim]:
    for labels, told, here in (
        ("clean", "without wrong labels", sizes == 0),
        ("wrong", "some with wrong labels", sizes > 0),
    ):
        x, y = (apart(one, sizes, here) for one in (measured, accuracy(nets)))
        yield from correlated(
            nets,
            f"{name}_{labels}",
            f"of the functions that optimizers find on the same images, {told}, the {says} one"
            " generalizes better",
            TELLS,
            Pair(x, y, f"{name} with the accuracy, each less its mean over the optimizers"),
        )


def apart(quantity: Quantity, sizes: np.ndarray, here: np.ndarray) -> Quantity:
    """How far the nets `here` are from the mean of those with the same images and attack set."""
    values = np.full_like(quantity.values, np.nan)
    for size in np.unique(sizes[here]):
        of_set = sizes == size
        some = quantity.values[:, of_set]
        known = np.isfinite(some)
        total = np.where(known, some, 0.0).sum(1, keepdims=True)
        count = known.sum(1, keepdims=True)
        # Alone, a net is its own mean.
        values[:, of_set] = np.where(count > 1, some - total / np.maximum(count, 1), np.nan)
    return Quantity(values[:, here], quantity.settled[:, here])
