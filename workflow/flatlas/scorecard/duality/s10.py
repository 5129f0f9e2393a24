"""Figure S10: only α/B counts."""

from itertools import combinations

import numpy as np

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import BARELY_OFF, FALLING
from flatlas.scorecard.duality.trends import trend
from flatlas.scorecard.nets import Sweep
from flatlas.statistics.means import mean
from flatlas.store.material import Material


def judge(material: Material) -> list[Claim]:
    """Panel C: one curve, on which points of equal α/B lie at one height."""
    ratios = _ratios(material)
    sweep = Sweep(material, "alpha_batch", "run", tuple(ratios))
    at = [ratios[run] for run in sweep.values]
    pairs = [(a, b) for a, b in combinations(range(len(at)), 2) if np.isclose(at[a], at[b])]
    gap = sweep.read("hidden_summary", "dual_gap")
    return [
        sweep.claim(
            "trend",
            "ΔL falls as α/B rises, whichever of them changes",
            "rank correlation of mean ΔL with α/B",
            FALLING,
            trend(at),
            gap,
        ),
        sweep.claim(
            "equal",
            "ΔL is the same at equal α/B",
            "relative difference of mean ΔL between two points of equal α/B, up or down",
            BARELY_OFF,
            lambda twins: mean(np.abs(mean(twins)[..., 1] / mean(twins)[..., 0] - 1), -1),
            gap[:, pairs] if pairs else gap[:, :0],
        ),
    ]


def _ratios(material: Material) -> dict[str, float]:
    """α/B of each run, ascending."""
    outcomes = material.tables["outcomes"]
    runs = outcomes[outcomes["sweep"] == "alpha_batch"].drop_duplicates("run").set_index("run")
    ratios = runs["optimizer.lr"] / runs["batch"]
    return {str(run): float(ratio) for run, ratio in ratios.sort_values().items()}
