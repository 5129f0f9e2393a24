"""Claims about the principal directions p_i of one run's recordings, as arrays of their ranks."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claim, Criterion
from flatlas.claims.conventions import FALLING, near
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.statistics.correlation import spearman
from flatlas.statistics.directions import over_directions
from flatlas.statistics.estimate import UNKNOWN
from flatlas.statistics.power_law import power_law
from flatlas.statistics.round_off import ROUND_OFF

BASE = "base"
VALLEY = "valley_directions"
# The diffusive modes, and how many of them are measured.
FIRST, LAST = 2, 200
PSI = 4.0
POOLED = f"over directions {FIRST} to {LAST} (as far as measured) of all nets"


def runs(material: Material, *sweeps: str) -> list[Nets]:
    """The nets of each run of some sweeps, as they come; a run that stands in two comes once."""
    outcomes = material.tables["outcomes"]
    found = outcomes[outcomes["sweep"].isin(sweeps)].drop_duplicates("run")
    return [
        Nets(Material({name: _of(run, rows) for name, rows in material.tables.items()}), sweep)
        for sweep, run in zip(found["sweep"], found["run"], strict=True)
    ]


def _of(run: str, rows: pd.DataFrame) -> pd.DataFrame:
    """A table without rows may lack the column."""
    return rows[rows["run"] == run] if "run" in rows else rows


def ranks(first: int = FIRST, last: int = LAST) -> np.ndarray:
    """The ranks i themselves."""
    return np.arange(first, last + 1, dtype=float)


def read(nets: Nets, table: str, column: str, first: int = FIRST, last: int = LAST) -> np.ndarray:
    """One quantity as (realizations, ranks) from `first` to `last`, NaN where there is none."""
    found = np.full((len(nets.seeds), last - first + 1), np.nan)
    for rank, values in zip(
        nets.levels(table, "rank"), nets.read(table, column, "rank")[:, 0].T, strict=True
    ):
        if first <= rank <= last:
            found[:, int(rank) - first] = values
    return found


def variances(nets: Nets, table: str, first: int = FIRST, last: int = LAST) -> np.ndarray:
    """σ_i², NaN where it is no more than round-off of σ_1²."""
    found = read(nets, table, "variance", 1, last)
    return np.where(found > ROUND_OFF * found[:, :1], found, np.nan)[:, first - 1 :]


def flatness(nets: Nets) -> np.ndarray:
    """F_i of the diffusive modes along which something moves."""
    return _moving(nets, "flatness")


def settled(nets: Nets) -> np.ndarray:
    """Whether both ends of their valleys were found."""
    return _moving(nets, "converged")


def _moving(nets: Nets, column: str) -> np.ndarray:
    """Weights of dead neurons move no loss: their valleys have no ends, and need none."""
    return np.where(np.isfinite(variances(nets, VALLEY)), read(nets, VALLEY, column), np.nan)


def along(
    nets: Nets,
    name: str,
    says: str,
    quantity: str,
    criterion: Criterion,
    statistic: Callable[..., np.ndarray],
    *measured: np.ndarray,
    paper: str = "",
    settled: Sequence[np.ndarray] = (),
) -> Claim:
    """A claim by a statistic of all points, whose interval is over directions and realizations."""
    arrays = np.broadcast_arrays(*measured)
    known = np.logical_and.reduce([np.isfinite(one) for one in arrays])
    nets_known, directions_known = known.any(1), known.any(0)
    used = [np.where(known, one, np.nan)[nets_known][:, directions_known] for one in arrays]
    number = over_directions(statistic, *used) if known.any() else UNKNOWN
    return nets.judged(name, says, quantity, criterion, number, paper, settled)


def slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The exponent of y over x."""
    return power_law(x, y)[0]


def inverse_relation(nets: Nets, name: str, where: str) -> Claim:
    """That σ_i² falls with F_i."""
    return along(
        nets,
        name,
        f"the flatter a direction, the smaller its variance: {where}",
        f"rank correlation of σ_i² with F_i, {POOLED}",
        FALLING,
        spearman,
        variances(nets, VALLEY),
        flatness(nets),
        settled=(settled(nets),),
    )


def psi(nets: Nets, name: str, where: str) -> Claim:
    """That it does so as a power law (Eq. 8)."""
    return along(
        nets,
        name,
        f"σ_i² ∝ F_i^−ψ with ψ near {PSI:g}: {where}",
        f"minus the exponent of σ_i² over F_i, {POOLED}",
        near(PSI),
        lambda x, y: -slope(x, y),
        flatness(nets),
        variances(nets, VALLEY),
        paper=f"{PSI:g}",
        settled=(settled(nets),),
    )
