"""The nets of a figure: their tables as arrays, and claims that say how many are solutions.

A realization whose training met no stopping rule is not a solution: its values are NaN.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claim, Criterion
from flatlas.claims.trust import few, lacking, realizations, trusted, unlearnt, unsettled
from flatlas.errors import FlatlasError
from flatlas.evidence.material import (
    FINAL,
    NET,
    Material,
    at_moment,
    check_axis,
    each_run_once,
    with_settings,
)
from flatlas.statistics.estimate import UNKNOWN, Estimate, estimate
from flatlas.statistics.joint import Joint
from flatlas.statistics.means import mean
from flatlas.statistics.more_realizations import HalfWidth, resampled, student
from flatlas.statistics.trends import average

# With fewer solutions at a value of a sweep, their spread is too uncertain to decide anything.
FEWEST = 3
# A claim that is judged in part needs this many values: two are no trend.
FEWEST_VALUES = 3


@dataclass(frozen=True)
class Nets:
    """All nets of a figure, or those of one or several of its sweeps, run by run.

    `along` is the column that identifies a value.
    """

    material: Material
    sweep: str | tuple[str, ...] | None = None
    along: str = "run"

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """How each training ended, one row for each net."""
        outcomes = self._of_sweeps(self.material.tables["outcomes"])
        check_axis(outcomes, self.along)
        return outcomes.dropna(subset=[self.along]).drop_duplicates(["seed", self.along])

    @cached_property
    def seeds(self) -> list[int]:
        """The realizations, on the first axis of every array."""
        return sorted(self.outcomes["seed"].unique())

    @cached_property
    def values(self) -> list[Any]:
        """The runs, on the second axis of every array.

        A sweep that is not drawn has one run without nets.
        """
        return sorted(self.outcomes[self.along].unique()) or [self.sweep]

    @cached_property
    def solved(self) -> pd.DataFrame:
        """The run and the seed of each training that gave a solution."""
        return self.outcomes.loc[self.outcomes["converged"].astype(bool), NET]

    @cached_property
    def solutions(self) -> dict[Any, int]:
        """How many realizations have a solution at each value that was planned."""
        return self._counts()

    @cached_property
    def needed(self) -> int:
        """How many solutions a value needs to count in a claim."""
        return max(1, min(FEWEST, len(self.seeds)))

    @cached_property
    def fewest(self) -> int:
        """The smallest number of solutions at a value, among the values with enough of them.

        For the nets of a whole figure, it is the number of realizations that have a solution.
        """
        if self.sweep is None:
            return int(self.outcomes.groupby("seed")["converged"].any().sum())
        return min((one for one in self.solutions.values() if one >= self.needed), default=0)

    @property
    def complete(self) -> bool:
        """Whether there are enough solutions: in a sweep, at each of its values."""
        return self.fewest >= self.needed and not (self._poor or self._missing)

    def _counts(self) -> dict[Any, int]:
        counts = self.outcomes.groupby(self.along)["converged"].sum()
        return {value: int(count) for value, count in counts.items()}

    @property
    def _poor(self) -> int:
        """The number of values of a sweep with too few solutions."""
        if self.sweep is None:
            return 0
        return sum(count < self.needed for count in self.solutions.values())

    @property
    def _missing(self) -> list[str]:
        drawn = set(self.outcomes["sweep"])
        return [sweep for sweep in self._sweeps if sweep not in drawn]

    @property
    def _sweeps(self) -> tuple[str, ...]:
        return (self.sweep,) if isinstance(self.sweep, str) else self.sweep or ()

    @property
    def comparable(self) -> bool:
        """Whether there is anything for a claim to compare."""
        return True

    @property
    def note(self) -> str:
        """What is missing, in words: sweeps not drawn, unsolved trainings; empty if nothing is."""
        notes = [f"Sweep '{sweep}' is not drawn." for sweep in self._missing]
        unsolved = int((~self.outcomes["converged"]).sum())
        if unsolved:
            notes.append(f"{unsolved} of {len(self.outcomes)} trainings gave no solution.")
        if self._poor:
            of = f"{self._poor} of {len(self.solutions)}"
            notes.append(f"{of} runs have fewer solutions than {self.needed}.")
        return " ".join(notes)

    @cached_property
    def test_error(self) -> float:
        """The lowest mean test error of the solutions of a run; NaN if there are none."""
        errors = self.solved.merge(self.material.ends[[*NET, "test_error"]], on=NET)
        return float(errors.groupby("run")["test_error"].mean().min())

    def levels(self, table: str, axis: str) -> list[Any]:
        """The labels along another axis of a table, ascending: ranks n, or numbers of images."""
        return sorted(self._rows(table, [axis], FINAL)[axis].unique())

    def read(self, table: str, column: str, *axes: str, at: str = FINAL) -> np.ndarray:
        """One quantity as (realizations, values, *axes); NaN where there is none.

        The values were measured in the solutions, or at another moment, `at`.
        """
        rows = self._rows(table, [*axes, column], at)
        labels = [self.seeds, self.values, *(sorted(rows[axis].unique()) for axis in axes)]
        places = [
            pd.Index(levels).get_indexer(pd.Index(rows[name]))
            for levels, name in zip(labels, ["seed", self.along, *axes], strict=True)
        ]
        if pd.MultiIndex.from_arrays(places).has_duplicates:
            raise FlatlasError(
                f"The table '{table}' has several rows for one net at the same"
                f" {', '.join([self.along, *axes])}. A claim needs one: name the axis that"
                " distinguishes them."
            )
        array = np.full([len(levels) for levels in labels], np.nan)
        array[tuple(places)] = rows[column]
        return array

    def read_of_run(self, table: str, column: str, *axes: str, at: str = FINAL) -> np.ndarray:
        """One quantity as (realizations, *axes), for nets that are all of one run."""
        if len(self.values) > 1:
            raise FlatlasError(
                f"The sweep '{self.sweep}' has {len(self.values)} runs, but this figure's claims "
                "are about one: leave one, or draw the figure in a study of your own."
            )
        return self.read(table, column, *axes, at=at)[:, 0]

    def claim(
        self,
        name: str,
        says: str,
        quantity: str,
        criterion: Criterion,
        statistic: Callable[..., np.ndarray],
        *measured: np.ndarray,
        paper: str = "",
        settled: Sequence[np.ndarray] = (),
    ) -> Claim:
        """A claim about these nets, whose number is the statistic of the measured arrays.

        `settled` says for each quantity behind the number whether its search converged: 1 or 0, or
        NaN where there was none.
        """
        if not (isinstance(criterion, Criterion) and callable(statistic) and measured):
            raise FlatlasError(
                f"the claim '{name}' lacks a part. It needs, in this order: name, says, quantity, "
                "criterion (of claims/conventions.py), statistic, and at least one array."
            )
        empty = not self.comparable or any(not array.size for array in measured)
        fewest = min([self.fewest, *map(realizations, measured)])
        find: Callable[..., Estimate] = partial(estimate, statistic)
        half_width = resampled
        if isinstance(statistic, Joint):
            find, half_width = statistic.estimate, student
        number = UNKNOWN if empty else find(*measured, fewest=fewest)
        return self.judged(
            name, says, quantity, criterion, number, paper, settled, fewest, half_width
        )

    def mean_claim(
        self,
        name: str,
        says: str,
        quantity: str,
        criterion: Criterion,
        measured: np.ndarray,
        paper: str = "",
        settled: Sequence[np.ndarray] = (),
    ) -> Claim:
        """A claim whose number is the mean over nets of what was measured of each."""
        statistic = average if measured.ndim > 1 else mean
        quantity = f"{quantity}; mean over nets"
        return self.claim(
            name, says, quantity, criterion, statistic, measured, paper=paper, settled=settled
        )

    def judged(
        self,
        name: str,
        says: str,
        quantity: str,
        criterion: Criterion,
        number: Estimate,
        paper: str = "",
        settled: Sequence[np.ndarray] = (),
        fewest: int | None = None,
        half_width: HalfWidth | None = resampled,
    ) -> Claim:
        """A claim about these nets, from an estimate that is already known.

        `fewest` is the number of realizations behind it, if that is not the number of solutions;
        `half_width` is None if nothing is predicted of more realizations.
        """
        known = self.fewest if fewest is None else fewest
        failed = unlearnt(self.test_error)
        range_of_few = few(number, known) if half_width is resampled or known == 1 else ""
        notes = [self.note, failed, unsettled(settled), lacking(number), range_of_few]
        note = " ".join(filter(None, notes))
        enough = known >= self.needed and number is not UNKNOWN
        complete = self.complete and enough and trusted(settled) and not failed
        return Claim(
            name,
            says,
            quantity,
            criterion,
            number,
            paper,
            note,
            complete,
            realizations=known,
            half_width=half_width,
        )

    def _rows(self, table: str, columns: list[str], at: str) -> pd.DataFrame:
        """The rows of solutions at a moment, each run once; at all moments if these are an axis.

        Rows measured during a training are kept even if it gave no solution.
        """
        moment = None if "at" in columns else at
        if (table, moment) not in self._found:
            self._found[table, moment] = self._solved_rows(table, moment)
        rows, wanted = self._found[table, moment], dict.fromkeys(["seed", self.along, *columns])
        # The settings of a run are columns of `outcomes`.
        return (with_settings(rows, wanted) if table == "outcomes" else rows)[[*wanted]]

    @cached_property
    def _found(self) -> dict[tuple[str, str | None], pd.DataFrame]:
        """A cache of rows by table and moment: claims ask for one column after another."""
        return {}

    def _solved_rows(self, table: str, moment: str | None) -> pd.DataFrame:
        """The same rows with all columns; at all moments if none is given."""
        rows = self._of_sweeps(self.material.tables[table])
        if not isinstance(self.sweep, str):
            rows = each_run_once(rows)
        if moment is not None:
            rows = at_moment(rows, moment)
        kept = pd.MultiIndex.from_frame(rows[NET]).isin(pd.MultiIndex.from_frame(self.solved))
        if "at" in rows:
            kept |= rows["at"].to_numpy(str) != FINAL
        return rows[kept & rows[self.along].isin(self.values).to_numpy()]

    def _of_sweeps(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows of the named sweeps, or all rows if none is named."""
        known = with_settings(rows, [self.along])
        return known if self.sweep is None else known[known["sweep"].isin(self._sweeps)]


@dataclass(frozen=True)
class Sweep(Nets):
    """The nets of one sweep, by the values of the swept key that have solutions.

    The values ascend or follow the given `order`; notes call them by their `names`. A claim needs
    solutions at every value. If it is judged `in_part`, the first value and two others are enough,
    and the note says which.
    """

    order: tuple[Hashable, ...] = ()
    names: Mapping[Any, str] = field(default_factory=dict)
    in_part: bool = False

    @cached_property
    def solutions(self) -> dict[Any, int]:
        """How many realizations have a solution at each value that was planned."""
        found = self._counts()
        return {value: found.get(value, 0) for value in self.order or sorted(found)}

    @cached_property
    def values(self) -> list[Any]:
        """The values with enough solutions, on the second axis of every array."""
        return [value for value, count in self.solutions.items() if count >= self.needed]

    @property
    def complete(self) -> bool:
        """Whether enough of the planned values are there, and more than one was planned."""
        return len(self.values) == len(self.solutions) > 1 or self._partly

    @property
    def _partly(self) -> bool:
        """Whether claims are about a part of the values: those with solutions."""
        lost = len(self.values) < len(self.solutions)
        enough = len(self.values) >= FEWEST_VALUES and self.values[0] == next(iter(self.solutions))
        return self.in_part and lost and enough

    @cached_property
    def met(self) -> np.ndarray:
        """Which trainings gave a solution, 1 or 0, as (realizations, planned values)."""
        met = self.outcomes.pivot(index="seed", columns=self.along, values="converged")
        return met.reindex(columns=[*self.solutions]).to_numpy(float)

    @property
    def note(self) -> str:
        """Where solutions are missing and how many are left, in words; empty if none is missing."""
        if self.outcomes.empty:
            drawn = self.sweep in self.material.sweeps
            lacks = f"does not vary {self.along}" if drawn else "is not drawn"
            return f"Sweep '{self.sweep}' {lacks}."
        trained = self.outcomes.groupby(self.along).size()
        planned = {value: int(trained.get(value, len(self.seeds))) for value in self.solutions}
        lacking = [value for value, count in self.solutions.items() if count < planned[value]]
        if not lacking:
            return ""
        found = ", ".join(f"{self.solutions[value]} at {self._name(value)}" for value in lacking)
        of = " or ".join(map(str, sorted({planned[value] for value in lacking})))
        found = f"Solutions: {found}, of {of}."
        if not self._partly:
            return found
        return f"{found} Judged at {', '.join(map(self._name, self.values))}."

    def _name(self, value: Any) -> str:
        """A value as a note calls it."""
        return str(self.names.get(value, value))

    @property
    def comparable(self) -> bool:
        """Whether there is more than one value."""
        return len(self.values) > 1


def pooled_nets(material: Material, names: Iterable[str]) -> Nets:
    """The nets of the named sweeps, in the realizations that all of their runs have.

    Otherwise a run with more realizations than others would count for more.
    """
    kept = {*names}
    outcomes = material.tables["outcomes"]
    runs = outcomes[outcomes["sweep"].isin(kept)].groupby("run")["seed"]
    shared = set.intersection(*({*seeds} for _, seeds in runs)) if len(runs) else set()
    tables = {
        name: table[table["sweep"].isin(kept) & table["seed"].isin(shared)]
        for name, table in material.tables.items()
    }
    return Nets(Material(tables))
