"""Figure 1: without L2 the weights grow, the loss goes to 0 and the Hessian with it."""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import RISING, SMALL
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.studies.false_friend.measured import (
    NAMES,
    NORMS,
    TABLE,
    along_l2,
    with_history,
)


def judge(material: Material) -> list[Claim]:
    """Of the nets without L2, along training."""
    material = with_history(material)
    return [
        claim
        for name in ("logistic", "mlp")
        for claim in _along(along_l2(material, f"{name}_path"), name)
    ]


def _along(nets: Sweep, name: str) -> Iterator[Claim]:
    told, weights = NAMES[name], _without_l2(nets, "weight_norm")
    epochs = np.arange(weights.shape[-1], dtype=float)
    yield nets.claim(
        f"{name}_weights",
        f"on the way of {told} to no loss the weights grow (and have to, without bound)",
        "rank correlation of ‖w‖₂ with the epoch, without L2; mean over nets",
        RISING,
        mean,
        spearman(epochs, weights) if weights.size else weights,
    )
    loss = _without_l2(nets, "train_loss")
    for norm, says in NORMS.items():
        values = _without_l2(nets, norm)
        later = values.shape[-1] // 2
        searches = (_without_l2(nets, "converged"),) if norm == "spectral_norm" else ()
        yield nets.claim(
            f"{name}_{norm}_follows",
            f"in the limit of no training loss {says} of {told} goes to 0",
            f"rank correlation of {says} with the loss, over the later half of the moments,"
            " without L2; mean over nets",
            RISING,
            mean,
            spearman(loss[..., later:], values[..., later:]) if values.size else values,
            settled=searches,
        )
        yield nets.claim(
            f"{name}_{norm}_small",
            f"solutions of {told} with low loss and large weights have a small Hessian",
            f"{says} at the end over its largest value on the way, without L2; mean over nets",
            SMALL,
            mean,
            values[..., -1] / values.max(-1) if values.size else values,
            settled=searches,
        )


def _without_l2(nets: Sweep, column: str) -> np.ndarray:
    """(realizations, epochs) of the weakest L2, 0."""
    array = nets.read(TABLE, column, "epoch", "at")
    if not array.size:
        return np.empty((len(nets.seeds), 0))
    # Each epoch is a moment of its own.
    return mean(array, -1)[:, 0]
