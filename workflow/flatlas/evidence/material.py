"""The material of figures and claims: the tables of some runs, side by side."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import pandas as pd

from flatlas.errors import FlatlasError
from flatlas.plan.points import FULL_BATCH, LACKS
from flatlas.store.costs import read_cost
from flatlas.store.tables import read_table

# The columns that identify a training, and a training within a sweep: a dot of a figure.
NET = ["run", "seed"]
DOT = ["sweep", *NET]
# The moment of a training at which it is a solution.
FINAL = "final"
# A moment some epochs after the stopping rule was met, as in `met+10`; and the moment at which the
# rule was met, with zero error on S if that is the rule.
BEYOND = "met+"
ZERO_ERROR = f"{BEYOND}0"


@dataclass(frozen=True)
class Material:
    """Tables by name (`history`, `outcomes`, `<measure>_<table>`); none for a schematic.

    Each has the rows of all the figure's runs, with a column `sweep`, a column `run` and a column
    for each swept key (`optimizer.lr`, say).
    """

    tables: Mapping[str, pd.DataFrame]

    def __post_init__(self) -> None:
        """Make reading an unknown table an error that lists the tables."""
        object.__setattr__(self, "tables", _Tables(self.tables))

    @property
    def sweeps(self) -> list[str]:
        """The sweeps in the order of the figure, including those without a solution."""
        return list(self.tables["outcomes"]["sweep"].unique())

    @property
    def trainings(self) -> pd.DataFrame:
        """How each training ended: one row, even if it is in several sweeps."""
        return self.tables["outcomes"].drop_duplicates(NET)

    @cached_property
    def ends(self) -> pd.DataFrame:
        """The last row of the history of each training."""
        return self.tables["history"].drop_duplicates(NET, keep="last")

    def with_table(self, name: str, rows: pd.DataFrame) -> "Material":
        """The material with another table, or with other rows in it."""
        return Material({**self.tables, name: rows})

    def measured(
        self,
        name: str,
        sweep: str | None = None,
        *swept: str,
        every_moment: bool = False,
    ) -> pd.DataFrame:
        """A table, of one sweep or all, with a column that says whether the training `converged`.

        That column replaces the table's own `converged`, which says whether a search converged.
        Only rows of the final moment are included, or with `every_moment` those of all moments. All
        keys in `swept` are columns.
        """
        measured = self.tables[name].drop(columns="converged", errors="ignore")
        if not every_moment:
            measured = at_moment(measured)
        if sweep is not None:
            measured = measured[measured["sweep"] == sweep]
        ends = self.trainings[[*NET, "converged"]]
        measured = with_settings(measured, swept)
        for key in swept:
            check_axis(measured, key)
        return measured.merge(ends, on=NET, validate="many_to_one")

    def beside_history(self, name: str) -> pd.DataFrame:
        """A table of a measure, with the history of each net at the same epoch."""
        keys = [*DOT, "epoch"]
        tables = (self.tables[table] for table in (name, "history"))
        measured, history = (table.astype({"epoch": float}) for table in tables)
        own = [column for column in history if column in keys or column not in measured]
        return measured.merge(history[own], on=keys, how="left")

    def realizations(self) -> dict[str, list[dict[Hashable, Any]]]:
        """For each run: its seeds, and how the training of each ended."""
        if "outcomes" not in self.tables:
            return {}
        columns = ["seed", "reason", "met_epoch", "epoch", "converged"]
        runs = self.trainings.groupby("run")
        return {str(run): rows[columns].to_dict("records") for run, rows in runs}


class _Tables(dict[str, pd.DataFrame]):
    def __missing__(self, name: str) -> NoReturn:
        raise FlatlasError(
            f"the figure has no table '{name}', only {', '.join(self) or 'none'}: add the sweeps "
            "and measures whose tables its module reads to its entry in config/studies."
        )


def each_run_once(table: pd.DataFrame) -> pd.DataFrame:
    """Each run's rows once, from its first sweep: they are the same in all its sweeps."""
    return table[table["sweep"] == table.groupby("run")["sweep"].transform("first")]


def at_moment(table: pd.DataFrame, moment: str = FINAL) -> pd.DataFrame:
    """The rows of a moment (default: the solution); all rows of a table without moments."""
    return table[table["at"].astype(str) == moment] if "at" in table else table


def with_settings(table: pd.DataFrame, keys: Iterable[str]) -> pd.DataFrame:
    """The table with all of these swept keys; NaN for those that a user's figure does not vary."""
    return table.assign(**{key: float("nan") for key in keys if key not in table})


def with_full_batches(table: pd.DataFrame) -> pd.DataFrame:
    """The table with `full` as the batch of marked points: one setting, whatever the size of S."""
    if FULL_BATCH not in table:
        return table
    batch = table["batch"].astype(object).mask(table[FULL_BATCH].notna(), "full")
    return table.assign(batch=batch).drop(columns=FULL_BATCH)


def check_axis(table: pd.DataFrame, key: str) -> None:
    """Refuse a sweep of which some runs lack the value of a key, or several have the same.

    Figures and claims would leave out runs without a value, and average runs with the same value.
    """
    runs = table.drop_duplicates(["sweep", "run", key])
    for sweep, rows in runs.groupby("sweep", sort=False):
        none = rows[key].isna()
        if none.any() and not none.all():
            lacking = ", ".join(rows.loc[none, "run"])
            raise FlatlasError(
                f"The sweep '{sweep}' has runs without {key} ({lacking}), which have no place on "
                "its axis. Give them a value, or leave them out."
            )
        if rows.loc[~none, key].duplicated().any():
            raise FlatlasError(
                f"The sweep '{sweep}' has several runs with the same {key}, so its values can't be "
                "compared. Vary nothing else in it."
            )


def gather(files: Mapping[str, Sequence[str]], points: Sequence[Mapping[str, Any]]) -> Material:
    """The material of some points, from its files.

    The n-th file of each name belongs to the n-th point that has such a file.

    `<measure>_cost`, the cost of a measurement, is read from its provenance.
    """
    tables = {}
    for name, paths in files.items():
        having_table = [point for point in points if name not in point.get(LACKS, ())]
        parts = []
        for path, point in zip(paths, having_table, strict=True):
            cost = name.endswith("_cost")
            table = pd.DataFrame([read_cost(path)]) if cost else read_table(path)
            parts.append(_at_point(point, table))
        tables[name] = pd.concat(parts, ignore_index=True)
    return Material(tables)


def _at_point(point: Mapping[str, Any], table: pd.DataFrame) -> pd.DataFrame:
    """The table with the point's values in every row; a list (of widths, say) as one value.

    A column that the table has already stays: a borrowed point and a measure may both have an `of`.
    """
    whole: dict[str, Any] = {
        key: [tuple(value)] * len(table) if isinstance(value, list) else value
        for key, value in point.items()
        if key != LACKS and key not in table
    }
    return table.assign(**whole)
