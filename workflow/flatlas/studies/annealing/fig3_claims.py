"""Figure 3: how curvatures and minima of random minibatches scale with the flatness."""

from collections.abc import Callable

import numpy as np

from flatlas.evidence.material import Material
from flatlas.studies.annealing.directions import (
    BASE,
    POOLED,
    along,
    flatness,
    read,
    settled,
    slope,
)
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import MOSTLY, near
from flatlas.claims.nets import Nets

TABLE = "minibatch_directions"


def judge(material: Material) -> list[Claim]:
    """Three exponents."""
    nets = Nets(material, BASE)
    found = read(nets, TABLE, "found")
    # Of a direction along which most minibatches have no minimum within reach, little is known.
    within = np.where(np.isnan(found), np.nan, found >= MOSTLY.low)

    def exponent(
        name: str,
        says: str,
        column: str,
        paper: float,
        of: Callable[[np.ndarray], np.ndarray] = np.asarray,
    ) -> Claim:
        return along(
            nets,
            name,
            says,
            f"exponent over F_i, {POOLED}",
            near(paper),
            slope,
            flatness(nets),
            of(read(nets, TABLE, column)),
            paper=f"{paper:g}",
            settled=(settled(nets), within),
        )

    return [
        exponent("curvature", "M_ii of minibatches falls as F_i^−2", "curvature", -2),
        exponent(
            "spread",
            "the spread σ̃_i of their minima grows almost linearly with F_i",
            "minimum_variance",
            1,
            np.sqrt,
        ),
        exponent("product", "M_ii² σ̃_i² falls as F_i^−2", "product", -2),
    ]
