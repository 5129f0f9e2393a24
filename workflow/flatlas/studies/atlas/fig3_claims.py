"""Figure 3: whether a measure knows the function only."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from flatlas.evidence.atlas import NET, QUANTITIES, settled, survival
from flatlas.evidence.material import ZERO_ERROR, Material
from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import ONLY_THE_FUNCTION
from flatlas.claims.nets import range_of, trusted, unsettled
from flatlas.statistics.estimate import UNKNOWN, estimate

SCALINGS = {"layer": "a layer", "neurons": "each neuron of a layer"}
# Whose value cannot change, whatever the net: that they stay is a test of ours and no result.
OF_THE_FUNCTION = {"train_loss", "prior", "path_norm", "margin", "kl_regret"}
IDENTITIES = {"layer": OF_THE_FUNCTION | {"dual_gap"}, "neurons": OF_THE_FUNCTION}
# Fewer runs decide nothing.
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
    return Claim(
        f"{name}_{scaling}",
        f"the {QUANTITIES[name].name.removeprefix('the ')} depends only on the function",
        f"relative change by an α-scaling of {SCALINGS[scaling]}, mean over nets",
        ONLY_THE_FUNCTION,
        estimate(_mean, change) if len(change) else UNKNOWN,
        note=" ".join(filter(None, [_few(len(change)), unsettled(searches)])),
        complete=len(change) >= FEWEST and trusted(searches),
    )


def _few(runs: int) -> str:
    """Runs are the sample: realizations of all of them share their images."""
    if runs < FEWEST:
        return f"Measured of {runs} runs."
    return range_of(runs, "runs")


def _searches(table: pd.DataFrame, name: str, scaling: str) -> list[np.ndarray]:
    """Whether those before and after the scaling converged."""
    if not QUANTITIES[name].searched:
        return []
    rows = table["scaling"].isin(["none", scaling])
    return [table.loc[rows, settled(name)].to_numpy(float)]


def _change(wide: pd.DataFrame, scaling: str) -> np.ndarray:
    """Of each run, the mean over its realizations."""
    both = wide.reindex(columns=["none", scaling]).astype(float)
    change = (both[scaling] / both["none"] - 1).abs()
    return change[np.isfinite(change)].groupby("run").mean().to_numpy()


def _mean(change: np.ndarray) -> np.ndarray:
    return np.asarray(np.mean(change, axis=0))
