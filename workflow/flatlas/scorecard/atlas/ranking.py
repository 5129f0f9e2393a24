"""How a quantity ranks nets by their generalization gap, and claims on that."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from flatlas.scorecard.claims import Claim, Criterion
from flatlas.statistics.estimate import Estimate
from flatlas.statistics.rank_correlation import Points
from flatlas.store.atlas import GAP

# Fewer runs say too little of an order to decide anything.
FEWEST = 3


def tau(table: pd.DataFrame, name: str, strata: np.ndarray, given: Iterable[str] = ()) -> Estimate:
    """Kendall's τ over pairs of nets of one stratum; runs are resampled."""
    x, y, *others = (table[one].to_numpy(float) for one in (name, GAP, *given))
    return Points(strata, table["run"].to_numpy()).tau(x, y, others)


def runs_with(table: pd.DataFrame, name: str) -> int:
    """How many runs a quantity is known of."""
    return int(table.dropna(subset=[name])["run"].nunique())


def ranked(
    name: str, says: str, quantity: str, criterion: Criterion, found: Estimate, runs: int
) -> Claim:
    """A claim on a coefficient of so many runs."""
    note = "" if runs >= FEWEST else f"Measured of {runs} runs."
    return Claim(name, says, quantity, criterion, found, note=note, complete=runs >= FEWEST)
