"""Scaling two layers against each other: what the paper's discussion says of it."""

from collections.abc import Iterator

import numpy as np

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim, between
from flatlas.claims.conventions import EXACT
from flatlas.studies.duality.spectra_claims import live, logs
from flatlas.claims.nets import Nets
from flatlas.statistics.means import mean

TABLE = "rescaled_directions"
# The paper lets σ_g scale by p and σ_w by 1/p; in which layer the p stands is a matter of naming.
POWERS = {"sigma_g": ("σ_g", -1), "sigma_w": ("σ_w", 1)}
ALMOST = 1e-3


def judge(material: Material) -> list[Claim]:
    """Both determinants scale, and their product does not."""
    nets = Nets(material, "base")
    factors = np.asarray(nets.levels(TABLE, "factor"), dtype=float)
    return [_unchanged(nets, factors), *_powers(nets, factors)]


def _unchanged(nets: Nets, factors: np.ndarray) -> Claim:
    gap, curvature = (nets.read(TABLE, name, "factor", "n")[:, 0] for name in ("gap", "eigenvalue"))
    return nets.claim(
        "gap",
        "each ΔL_n is the same whatever the factor p",
        "largest change of a ΔL_n with p, relative to ΔL, over all directions with H_n above"
        " round-off (of the others, whose eigenvectors are arbitrary: of their sum) and all nets",
        EXACT,
        np.fmax.reduce,
        _largest_change(gap, curvature, factors),
    )


def _largest_change(gap: np.ndarray, curvature: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Of each net, against p = 1; the table's direction n is the same one for every p."""
    if not gap.size:
        return gap[:, 0:0]
    own = int(np.argmin(np.abs(factors - 1)))
    alive = np.isfinite(live(curvature[:, [own]]))
    rest = np.where(alive, 0.0, gap).sum(-1, keepdims=True)
    parts = np.concatenate([np.where(alive, gap, 0.0), rest], axis=-1)
    changes = (parts - parts[:, [own]]) / gap[:, [own]].sum(-1, keepdims=True)
    return np.asarray(np.abs(changes).max((1, 2)))


def _powers(nets: Nets, factors: np.ndarray) -> Iterator[Claim]:
    """The exponents of p: of the layer's weights times p."""
    steps = np.log(factors) - np.log(factors).mean() if len(factors) else factors
    for column, (symbol, power) in POWERS.items():
        means = mean(logs(nets.read(TABLE, column, "factor", "n")[:, 0]), -1)
        yield nets.claim(
            column,
            f"{symbol} scales by {'p' if power > 0 else '1/p'}, if the layer's weights do by p",
            f"exponent of p in {symbol}, mean over directions and nets",
            between(power - ALMOST, power + ALMOST),
            lambda over: (mean(over) * steps).sum(-1) / (steps**2).sum(),
            means,
            paper="σ_g by p and σ_w by 1/p, or the other way round",
        )
