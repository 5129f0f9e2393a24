"""Figure 5: the active temperature has the loss's shape, and falls with flatness and time."""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import FALLING, RISING, TIGHT
from flatlas.claims.nets import Nets
from flatlas.evidence.material import FINAL, Material
from flatlas.statistics.correlation import pearson, spearman
from flatlas.statistics.means import mean
from flatlas.studies.annealing.directions import (
    BASE,
    POOLED,
    along,
    flatness,
    read,
    settled,
)
from flatlas.studies.annealing.places import placed

FOLLOWED = 10
PROFILES, DIRECTIONS = "temperature_profiles", "temperature_directions"
COOLING = "cooling_directions"


def judge(material: Material) -> list[Claim]:
    """Panels A, B, and C with D."""
    nets = Nets(placed(material, PROFILES), BASE)
    return [_shape(nets), _by_flatness(nets), *_over_time(nets)]


def _shape(nets: Nets) -> Claim:
    heat, loss = (
        nets.read(PROFILES, name, "rank", "place")[:, 0] for name in ("temperature", "loss")
    )
    return nets.claim(
        "shape",
        "T_i(δθ) has a profile similar to that of the loss L_i(δθ)",
        "rank correlation of the two along a profile; mean over profiles and nets",
        RISING,
        mean,
        mean(spearman(heat, loss), -1),
    )


def _by_flatness(nets: Nets) -> Claim:
    return along(
        nets,
        "flatter",
        "flatter directions are cooler",
        f"rank correlation of T_i(0) with F_i, {POOLED}",
        FALLING,
        spearman,
        flatness(nets),
        read(nets, DIRECTIONS, "temperature"),
        settled=(settled(nets),),
    )


def _over_time(nets: Nets) -> Iterator[Claim]:
    epoch, heat, loss = (_followed(nets, name) for name in ("epoch", "temperature", "loss"))
    yield nets.claim(
        "cools",
        "the temperature falls with time",
        f"rank correlation of T_{FOLLOWED}(0) with the epoch, over moments; mean over nets",
        FALLING,
        mean,
        spearman(heat, epoch),
    )
    yield nets.claim(
        "with_the_loss",
        "it is highly correlated with the loss",
        f"Pearson's coefficient of ln T_{FOLLOWED}(0) with ln L, over moments; mean over nets",
        TIGHT["pearson"],
        mean,
        pearson(np.log(heat), np.log(loss)),
    )


def _followed(nets: Nets, column: str) -> np.ndarray:
    """(realizations, moments) along the followed direction.

    A checkpoint beyond the end of a training is that end again, and is left out.
    """
    ranks = nets.levels(COOLING, "rank")
    if FOLLOWED not in ranks:
        return np.full((len(nets.seeds), 0), np.nan)
    found, epoch = (
        nets.read(COOLING, name, "at", "rank")[:, 0, :, ranks.index(FOLLOWED)]
        for name in (column, "epoch")
    )
    final = np.array(nets.levels(COOLING, "at"), dtype=str) == FINAL
    on_the_way = epoch < nets.read("outcomes", "epoch")[:, :1]
    return np.where(on_the_way | final, found, np.nan)
