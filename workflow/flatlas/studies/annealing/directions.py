"""Measurements along the principal directions p_i, as arrays by rank."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from flatlas.claims.nets import Nets
from flatlas.evidence.material import DOT, Material, at_moment
from flatlas.statistics.estimate import UNKNOWN, Estimate, over_directions
from flatlas.studies.annealing.recordings import FIRST, LAST, live

POOLED = f"over directions {FIRST} to {LAST} (as far as measured) of all nets"


def moving(material: Material, table: str) -> Material:
    """The material with only those directions in a table along which a net moves."""
    return material.with_table(table, live(at_moment(material.tables[table])))


def placed(material: Material, table: str, profile: str) -> Material:
    """The material with a column `place` in a table: the position of a point in its profile.

    Coordinates differ from net to net, so points of different nets are matched by their position.
    `profile` names the column that has one value per profile.
    """
    rows = material.tables[table]
    places = rows.groupby([*DOT, "at", profile]).cumcount()
    return material.with_table(table, rows.assign(place=places))


def runs(material: Material, *sweeps: str) -> list[Nets]:
    """The nets of each run of some sweeps; a run in two of them appears once."""
    outcomes = material.tables["outcomes"]
    found = outcomes[outcomes["sweep"].isin(sweeps)].drop_duplicates("run")
    return [
        Nets(
            Material({name: rows[rows["run"] == run] for name, rows in material.tables.items()}),
            sweep,
        )
        for sweep, run in zip(found["sweep"], found["run"], strict=True)
    ]


def ranks(first: int = FIRST, last: int = LAST) -> np.ndarray:
    """The ranks i from `first` to `last`."""
    return np.arange(first, last + 1, dtype=float)


def read(nets: Nets, table: str, column: str, first: int = FIRST, last: int = LAST) -> np.ndarray:
    """One quantity as (realizations, ranks) from `first` to `last`, NaN where there is none."""
    levels = nets.levels(table, "rank")
    found = pd.DataFrame(nets.read_of_run(table, column, "rank"), columns=levels)
    # pandas keeps columns together, and the order in memory decides the last digit of sums.
    return np.ascontiguousarray(found.reindex(columns=ranks(first, last)), dtype=float)


def pooled(statistic: Callable[..., np.ndarray], *measured: np.ndarray) -> Estimate:
    """The statistic of all points, with an interval over directions and realizations.

    More realizations narrow it only to that of the directions, so claims predict nothing of them.
    """
    arrays = np.broadcast_arrays(*measured)
    known = np.logical_and.reduce([np.isfinite(one) for one in arrays])
    nets_known, directions_known = known.any(1), known.any(0)
    used = [np.where(known, one, np.nan)[nets_known][:, directions_known] for one in arrays]
    return over_directions(statistic, *used) if known.any() else UNKNOWN
