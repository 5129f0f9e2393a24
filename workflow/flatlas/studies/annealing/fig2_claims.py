"""Figure 2: flatness by rank, and the inverse variance-flatness relation for every B and α."""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, RISING
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.studies.annealing.directions import (
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

RATES = "rates"


def judge(material: Material) -> list[Claim]:
    """Panels B and C of the base run, panel D of all runs."""
    return [*_valleys(Nets(material, BASE)), *_relations(material)]


def _valleys(nets: Nets) -> Iterator[Claim]:
    width, curvature = flatness(nets), read(nets, VALLEY, "curvature")
    # A hill's parabola is infinitely wide: that is off by all of it.
    off = np.abs(width * np.sqrt(curvature.clip(0) / 8) - 1)
    yield nets.claim(
        "quadratic",
        "ln L_i is a parabola near 0, for all directions but the first",
        "F_i as measured against that of the parabola through the points half-way to both ends"
        f" (Eq. 7), relative; mean over directions {FIRST} to {LAST} and nets",
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
