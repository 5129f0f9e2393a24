"""What a figure is drawn from: the tables of its runs, each row knowing where it stands."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from flatlas.store.tables import read_table


@dataclass(frozen=True)
class Material:
    """Tables by name (`history`, `outcomes`, `<measure>_<table>`).

    Each holds the rows of all the figure's runs, with a column `sweep`, a column `run` and one
    for each swept key (`optimizer.lr`, say).
    """

    tables: Mapping[str, pd.DataFrame]

    def realizations(self) -> dict[str, list[dict[Hashable, Any]]]:
        """For each run behind the figure: its seeds, and how the training of each ended."""
        runs = self.tables["outcomes"].drop_duplicates(["run", "seed"])
        told = ["seed", "reason", "met_epoch", "epoch", "converged"]
        return {str(run): rows[told].to_dict("records") for run, rows in runs.groupby("run")}


def gather(files: Mapping[str, Sequence[str]], points: Sequence[Mapping[str, Any]]) -> Material:
    """Read every table; the n-th file of each name belongs to the n-th point."""
    tables = {}
    for name, paths in files.items():
        parts = [
            _standing_at(point, read_table(path)) for path, point in zip(paths, points, strict=True)
        ]
        tables[name] = pd.concat(parts, ignore_index=True)
    return Material(tables)


def _standing_at(point: Mapping[str, Any], table: pd.DataFrame) -> pd.DataFrame:
    """The table with the point's values in every row; a list (of widths, say) as one value."""
    whole: dict[str, Any] = {
        key: [tuple(value)] * len(table) if isinstance(value, list) else value
        for key, value in point.items()
    }
    return table.assign(**whole)
