"""Figure 3: whether a measure knows the function only."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import ONLY_THE_FUNCTION
from flatlas.statistics.estimate import UNKNOWN, estimate
from flatlas.store.atlas import NET, QUANTITIES, survival
from flatlas.store.material import ZERO_ERROR, Material

SCALINGS = {"layer": "the first layer", "neurons": "each neuron of the first layer"}
# Fewer nets decide nothing.
FEWEST = 3


def judge(material: Material) -> list[Claim]:
    """Our own question, of each measure and both α-scalings."""
    table = survival(material)
    table = table[table["at"].astype(str) == ZERO_ERROR]
    return [*_claims(table)]


def _claims(table: pd.DataFrame) -> Iterator[Claim]:
    for name in [name for name in QUANTITIES if name in table]:
        wide = table.pivot_table(index=[*NET], columns="scaling", values=name, dropna=False)
        for scaling, scaled in SCALINGS.items():
            change = _change(wide, scaling)
            yield Claim(
                f"{name}_{scaling}",
                f"the {QUANTITIES[name].name.removeprefix('the ')} depends only on the function",
                f"relative change by an α-scaling of {scaled}, in the median net",
                ONLY_THE_FUNCTION,
                estimate(_median, change) if len(change) else UNKNOWN,
                note="" if len(change) >= FEWEST else f"Measured of {len(change)} nets.",
                complete=len(change) >= FEWEST,
            )


def _change(wide: pd.DataFrame, scaling: str) -> np.ndarray:
    both = wide.reindex(columns=["none", scaling]).to_numpy(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        change = np.abs(both[:, 1] / both[:, 0] - 1)
    return np.asarray(change[np.isfinite(change)])


def _median(change: np.ndarray) -> np.ndarray:
    return np.asarray(np.median(change, axis=0))
