"""How a quantity ranks nets by their generalization gap."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from flatlas.statistics.estimate import Estimate
from flatlas.statistics.rank_correlation import Points
from flatlas.store.atlas import BASELINES, GAP, STUDY


def tau(
    table: pd.DataFrame, name: str, given: Iterable[str] = (), strata: np.ndarray | None = None
) -> Estimate:
    """Kendall's τ over pairs of nets of one study, or of one of the `strata`, runs resampled."""
    within = table[STUDY].to_numpy() if strata is None else strata
    x, y, *others = (table[one].to_numpy(float) for one in (name, GAP, *given))
    return Points(within, table["run"].to_numpy()).tau(x, y, others)


def other_baselines(name: str) -> list[str]:
    """What a quantity is held against: the baselines, but for itself."""
    return [other for other in BASELINES if other != name]
