"""Figure 2: flatness by rank, and the inverse variance-flatness relation for every B and α."""

from collections.abc import Iterator

import numpy as np

from flatlas.scorecard.annealing.directions import (
    BASE,
    FIRST,
    LAST,
    POOLED,
    VALLEY,
    along,
    flatness,
    inverse_relation,
    psi,
    ranks,
    read,
    runs,
    settled,
)
from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import BARELY_OFF, RISING
from flatlas.scorecard.nets import Nets
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.store.material import Material

RATES = "rates"


def judge(material: Material) -> list[Claim]:
    """Panels B and C of the base run, panel D of all runs."""
    return [*_valleys(Nets(material, BASE)), *_relations(material)]


def _valleys(nets: Nets) -> Iterator[Claim]:
    width, curvature = flatness(nets), read(nets, VALLEY, "curvature")
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.abs(np.sqrt(8 / np.where(curvature > 0, curvature, np.nan)) / width - 1)
    yield nets.claim(
        "quadratic",
        "ln L_i is a parabola near 0, for all directions but the first",
        "F_i of the parabola through the points half-way to both ends (Eq. 7) against F_i as"
        f" measured, relative; mean over directions {FIRST} to {LAST} and nets",
        BARELY_OFF,
        mean,
        mean(off, -1),
        settled=(settled(nets),),
    )
    yield along(
        nets,
        "rises",
        "the flatness F_i rises with the rank",
        f"rank correlation of F_i with i, {POOLED}",
        RISING,
        spearman,
        ranks(),
        width,
        settled=(settled(nets),),
    )


def _relations(material: Material) -> Iterator[Claim]:
    for number, nets in enumerate(runs(material, BASE, RATES)):
        point = nets.outcomes.reindex(columns=["batch", "optimizer.lr"]).iloc[0]
        batch, lr = point["batch"], point["optimizer.lr"]
        name = f"B{batch:g}_lr{lr:g}" if point.notna().all() else f"run{number}"
        where = f"B = {batch:g}, α = {lr:g}"
        yield inverse_relation(nets, f"inverse_{name}", where)
        yield psi(nets, f"psi_{name}", where)
