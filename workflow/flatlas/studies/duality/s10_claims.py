"""Figure S10: only α/B counts."""

from itertools import combinations

import numpy as np
import pandas as pd

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF, FALLING
from flatlas.studies.duality.trends import trend
from flatlas.claims.nets import Sweep
from flatlas.statistics.means import mean


def judge(material: Material) -> list[Claim]:
    """Panel C: one curve, on which points of equal α/B lie at one height."""
    runs = _runs(material)
    ratios = {str(run): row["optimizer.lr"] / row["batch"] for run, row in runs.iterrows()}
    names = {
        str(run): f"α = {row['optimizer.lr']:g}, B = {row['batch']:g}"
        for run, row in runs.iterrows()
    }
    ascending = tuple(sorted(ratios, key=lambda run: ratios[run]))
    sweep = Sweep(material, "alpha_batch", "run", ascending, names)
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
            "relative difference of mean ΔL between two points of equal α/B, up or down; mean over"
            f" all such pairs ({len(pairs)})",
            BARELY_OFF,
            lambda twins: mean(np.abs(mean(twins)[..., 1] / mean(twins)[..., 0] - 1), -1),
            gap[:, pairs] if pairs else gap[:, :0],
        ),
    ]


def _runs(material: Material) -> pd.DataFrame:
    """α and B of each run of the sweep."""
    outcomes = material.tables["outcomes"]
    runs = outcomes[outcomes["sweep"] == "alpha_batch"].drop_duplicates("run").set_index("run")
    return runs.reindex(columns=["optimizer.lr", "batch"]).dropna()
