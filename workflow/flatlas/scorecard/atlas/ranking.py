"""How a quantity ranks nets by their generalization gap, and claims on that."""

import pandas as pd

from flatlas.scorecard.claims import Claim, Criterion
from flatlas.statistics.estimate import Estimate

# Fewer runs say too little of an order to decide anything.
FEWEST = 3


def runs_with(table: pd.DataFrame, name: str) -> int:
    """How many runs a quantity is known of."""
    return int(table.dropna(subset=[name])["run"].nunique())


def ranked(
    name: str, says: str, quantity: str, criterion: Criterion, found: Estimate, runs: int
) -> Claim:
    """A claim on a coefficient of so many runs."""
    note = "" if runs >= FEWEST else f"Measured of {runs} runs."
    return Claim(name, says, quantity, criterion, found, note=note, complete=runs >= FEWEST)
