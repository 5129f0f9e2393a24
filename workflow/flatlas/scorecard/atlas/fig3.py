"""Figure 3: whether a measure knows the function only."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from flatlas.evidence.atlas import NET, QUANTITIES, settled, survival
from flatlas.evidence.material import ZERO_ERROR, Material
from flatlas.scorecard.claims import Claim, ours
from flatlas.scorecard.conventions import ONLY_THE_FUNCTION
from flatlas.scorecard.nets import trusted, unsettled
from flatlas.statistics.estimate import UNKNOWN, estimate

SCALINGS = {"layer": "a layer", "neurons": "each neuron of a layer"}
# Whose value cannot change, whatever the net: that they stay is a test of ours and no result.
OF_THE_FUNCTION = {"train_loss", "prior", "path_norm", "margin", "kl_regret"}
IDENTITIES = {"layer": OF_THE_FUNCTION | {"dual_gap"}, "neurons": OF_THE_FUNCTION}
# Fewer nets decide nothing.
FEWEST = 3


def judge(material: Material) -> list[Claim]:
    """A question of each measure and both α-scalings, where it is one."""
    table = survival(material)
    table = table[table["at"].astype(str) == ZERO_ERROR]
    return ours(_claims(table))


def _claims(table: pd.DataFrame) -> Iterator[Claim]:
    for name in [name for name in QUANTITIES if name in table]:
        wide = table.pivot_table(index=[*NET], columns="scaling", values=name, dropna=False)
        for scaling in [one for one in SCALINGS if name not in IDENTITIES[one]]:
            yield _claim(name, scaling, _change(wide, scaling), _searches(table, name, scaling))


def _claim(name: str, scaling: str, change: np.ndarray, searches: list[np.ndarray]) -> Claim:
    few = f"Measured of {len(change)} nets." if len(change) < FEWEST else ""
    return Claim(
        f"{name}_{scaling}",
        f"the {QUANTITIES[name].name.removeprefix('the ')} depends only on the function",
        f"relative change by an α-scaling of {SCALINGS[scaling]}, in the median net",
        ONLY_THE_FUNCTION,
        estimate(_median, change) if len(change) else UNKNOWN,
        note=" ".join(filter(None, [few, unsettled(searches)])),
        complete=len(change) >= FEWEST and trusted(searches),
    )


def _searches(table: pd.DataFrame, name: str, scaling: str) -> list[np.ndarray]:
    """Whether those before and after the scaling converged."""
    if not QUANTITIES[name].searched:
        return []
    rows = table["scaling"].isin(["none", scaling])
    return [table.loc[rows, settled(name)].to_numpy(float)]


def _change(wide: pd.DataFrame, scaling: str) -> np.ndarray:
    both = wide.reindex(columns=["none", scaling]).to_numpy(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        change = np.abs(both[:, 1] / both[:, 0] - 1)
    return np.asarray(change[np.isfinite(change)])


def _median(change: np.ndarray) -> np.ndarray:
    return np.asarray(np.median(change, axis=0))
