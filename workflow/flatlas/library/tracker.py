"""`Tracker`: measures along a training, in a table that is written as it grows."""

import re
import warnings
from glob import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd
from pandas import DataFrame
from pydantic import PositiveInt
from torch import nn

from flatlas.errors import FlatlasError
from flatlas.library.call import Measures, accepted, check, measure, with_options
from flatlas.library.found import Found
from flatlas.library.pictures import panels
from flatlas.library.problem import Settings, opened
from flatlas.plan.bounds import Positive
from flatlas.store.tables import read_table, write_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ["step", "measure", "quantity", "value", "error", "converged", "seconds"]


class Tracker:
    """Measures a model at regular steps: call `tracker(step)` in a training loop.

        tracker = flatlas.Tracker(model, loader, ["hessian"], every=100, path="run.parquet")
        for step, batch in enumerate(batches):
            ...
            tracker(step)

    `tracker.table` has all numbers so far. They are also in `path`, a parquet or CSV file. The file
    is replaced as a whole after each measurement: a kill at any moment leaves a complete file. A
    continued training, with a new tracker of the same path, continues the table: rows from the
    first newly measured step on are replaced. Steps of one tracker never go back: count them over
    all epochs. A step that is measured again has only its new rows. The model, random states and an
    iteration over the same loader are not disturbed. The settings are those of `measure`; by
    default the parameters are those that require a gradient when the tracker is made.
    """

    def __init__(
        self,
        model: nn.Module,
        data: Any,
        measures: Measures,
        *,
        every: int = 1,
        path: str | Path | None = None,
        test: Any = None,
        **settings: Unpack[Settings],
    ) -> None:
        """Raise errors that need no measure before training begins, also about model and data."""
        (self._every,) = accepted("Tracker", every=(PositiveInt, every))
        self._path = None if path is None else Path(path)
        self._model, self._data, self._test = model, data, test
        self._measures, self._settings = with_options(measures), settings
        with opened(model, data, test, settings) as problem:
            check(problem, self._measures)
            self._notes = {*problem.notes}
            if settings.get("parameters") is None:
                # All rows measure the same parameters, even if layers are frozen later.
                settings["parameters"] = [*map(escape, problem.training.shapes)]
        self._last: int | None = None
        self._table = DataFrame(columns=COLUMNS)
        if self._path is not None:
            self._table = _begun(self._path, self._table)
            self._written = self._path.read_bytes()

    @property
    def table(self) -> DataFrame:
        """A row for each number at each step: its value, error, whether it converged, seconds."""
        return self._table.copy()

    def __call__(self, step: int) -> Found | None:
        """Measure if the step is a multiple of `every`."""
        step = _whole(step)
        if self._last is not None and step < self._last:
            raise FlatlasError(
                f"step {step} comes after {self._last}: rows from {step} on would be replaced. "
                "Count steps over all epochs, as in epoch * len(loader) + step. To go on from an "
                "earlier checkpoint, make a new tracker with the same path."
            )
        self._last = step
        if step % self._every:
            return None
        self._refuse_other_rows()
        with warnings.catch_warnings():
            for note in self._notes:
                # The note has been shown before.
                warnings.filterwarnings("ignore", re.escape(note))
            found = measure(
                self._model, self._data, self._measures, test=self._test, **self._settings
            )
        self._notes |= {*found.notes}
        fresh = found.table.assign(step=step)[COLUMNS]
        before = self._table[self._table.step < step]
        self._table = pd.concat([before, fresh], ignore_index=True) if len(before) else fresh
        if self._path is not None:
            write_table(self._path, self._table)
            self._written = self._path.read_bytes()
        return found

    def _refuse_other_rows(self) -> None:
        """Raise an error if the file has changed since this tracker read or wrote it."""
        if self._path is None or not self._path.exists():
            return
        if self._path.read_bytes() != self._written:
            raise FlatlasError(
                f"'{self._path}' has changed since this tracker wrote it, as when two trackers "
                "or processes have one path: each would replace the other's rows. Give each "
                "another path, or track in one process."
            )

    def lightning(self) -> Any:
        """A Lightning callback that measures at the start and after each batch, by global step."""
        from flatlas.library.lightning import callback

        return callback(self)

    def plot(self, learning_rate: float | None = None) -> "Figure":
        """A panel for each quantity over the steps; several ranks share one.

        With the learning rate η of full-batch gradient descent, a line beside the Hessian's largest
        eigenvalues marks 2/η, above which gradient descent is unstable.
        """
        if self._table.empty:
            raise FlatlasError("nothing has been measured yet: call the tracker with a step.")
        stem = self._table.quantity.str.replace(r"_\d+$", "", regex=True)
        groups = [*self._table.groupby([self._table.measure, stem], sort=False)]
        if learning_rate is not None:
            (learning_rate,) = accepted("plot", learning_rate=(Positive, learning_rate))
            if ("hessian", "eigenvalue") not in dict(groups):
                raise FlatlasError(
                    "learning_rate is for the line 2/η beside the Hessian's eigenvalues, but "
                    f"'hessian' is not tracked: {', '.join(self._measures)}."
                )
        with panels(len(groups)) as (figure, axes):
            for ((name, quantity), rows), ax in zip(groups, axes, strict=True):
                _draw(ax, rows)
                ax.set(xlabel="step", ylabel=f"{name}: {quantity.replace('_', ' ')}")
                if learning_rate is not None and (name, quantity) == ("hessian", "eigenvalue"):
                    ax.axhline(2 / learning_rate, color="black", linestyle="--", label=r"$2/\eta$")
                    ax.legend()
        return figure


def _whole(step: Any) -> int:
    """A step as an integer, whatever kind of number it is."""
    try:
        found = int(step)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or found != step:
        raise FlatlasError(f"step is {step!r}. Allowed: a whole number, such as the steps so far.")
    return found


def _begun(path: Path, empty: DataFrame) -> DataFrame:
    """The table of a continued training, or an empty table, which is written to test the path."""
    if path.suffix not in (".csv", ".parquet"):
        raise FlatlasError(f"path is '{path}'. Allowed: a file that ends with .parquet or .csv.")
    if path.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise FlatlasError(
            f"path is '{path}', but parquet needs pyarrow: pip install pyarrow, or give a path "
            "that ends with .csv."
        )
    if not path.exists():
        try:
            write_table(path, empty)
        except OSError as error:
            raise FlatlasError(f"path is '{path}', which can't be written: {error}.") from error
        return empty
    try:
        found = read_table(path)
    except FlatlasError:
        found = DataFrame()
    if [*found.columns] != COLUMNS:
        raise FlatlasError(
            f"path is '{path}', which exists, but is not a table of a tracker. Delete it, or give "
            "another path."
        )
    return found


def _draw(ax: Any, rows: DataFrame) -> None:
    """A line for each rank with a band of its error; hollow points have not converged."""
    from flatlas.plotting.look import shades

    quantities = rows.quantity.unique()
    # The first rank is the darkest, even if it is the only one.
    colours = shades(max(2, len(quantities)))[::-1]
    for colour, quantity in zip(colours, quantities, strict=False):
        one = rows[rows.quantity == quantity]
        ax.plot(one.step, one.value, color=colour)
        ax.fill_between(
            one.step, one.value - one.error, one.value + one.error, color=colour, alpha=0.2, lw=0
        )
        ax.plot(one.step[one.converged], one.value[one.converged], ".", color=colour)
        failed = one[~one.converged.astype(bool)]
        ax.plot(failed.step, failed.value, "o", color=colour, fillstyle="none")
