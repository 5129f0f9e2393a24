"""The columns of the table of networks, and the networks that an axis compares."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from flatlas.evidence.material import with_full_batches

# A network at a moment: one row of the table.
MOMENT = ["run", "seed", "at"]
IDENTITY = ("study", "axes", *MOMENT)
# Networks that agree in these columns share their images and random numbers.
REALIZATION = ["study", "seed"]
OUTCOMES = {
    "gap": "generalization gap",
    "test_error": "test error",
    "test_loss": "test loss",
    "train_error": "training error",
    "epochs": "epochs of training",
}


@dataclass(frozen=True)
class Variable:
    """A column that the page offers, with its words: a `setting`, an `outcome` or a `measure`.

    `tested` is what a measure knows about the test images; a `baseline` costs next to nothing.
    """

    name: str
    words: str
    kind: str
    tested: str = ""
    baseline: bool = False


@dataclass(frozen=True)
class Axis:
    """Networks of a sweep that are compared if they differ in nothing but the `own` settings."""

    name: str
    words: str
    sweep: str
    own: Sequence[str]

    def on(self, table: pd.DataFrame) -> dict[str, Any]:
        """The axis for the page: its rows, and for each row its stratum.

        Only rows of one stratum are compared. They agree in all other settings and in the seed, and
        so in their images, unless the axis varies the images.
        """
        rows = _rows(table, self.sweep, "at" in self.own)
        some = table.loc[rows]
        others = [key for key in _varied(some) if key not in self.own]
        return {
            "name": self.name,
            "words": self.words,
            "own": list(self.own),
            "rows": rows,
            "strata": labels(some, [*REALIZATION, *others]),
        }


def variables(
    table: pd.DataFrame,
    axes: Mapping[str, tuple[str, str]],
    quantities: Mapping[str, Any],
    baselines: Collection[str],
) -> list[Variable]:
    """The variables of a table: settings, outcomes, and those `quantities` that it has.

    `axes` has, for each sweep, its words and the key of its setting, or how its keys begin.
    """
    chosen = _varied(table)
    shown = [Variable(name, _words(name, axes), "setting") for name in chosen]
    shown += [
        Variable(name, words, "outcome")
        for name, words in OUTCOMES.items()
        if name in table and name not in quantities
    ]
    return shown + [
        Variable(name, one.words, "measure", one.tested, name in baselines)
        for name, one in quantities.items()
        if name in table and table[name].notna().any()
    ]


def compared(table: pd.DataFrame, axes: Mapping[str, tuple[str, str]]) -> list[Axis]:
    """The axes of a table; a sweep that is none of `axes` has one for each setting it varies."""
    sweeps = list(dict.fromkeys(name for cell in table["axes"] for name in cell.split(";")))
    found = []
    for sweep in sorted(sweeps, key=[*axes, *sweeps].index):
        keys = _varied(table.loc[_rows(table, sweep)]) or ["at"]
        if sweep in axes:
            words, begins = axes[sweep]
            own = [key for key in keys if key.startswith(begins)] or keys
            found.append(Axis(sweep, words, sweep, own))
        else:
            factors = {key: f"{_words(key, axes)} ({sweep})" for key in keys}
            found += [Axis(f"{sweep}:{key}", words, sweep, [key]) for key, words in factors.items()]
    return found


def moments(table: pd.DataFrame) -> pd.Series:
    """How many epochs after its stopping rule was met a network was measured: 100 for met+100."""
    said = table["at"].astype(str).str.extract(r"\+(\d+)$")[0]
    return said.astype(float).fillna(0.0)


def first(table: pd.DataFrame) -> pd.Series:
    """Whether a row is its network at the first moment at which it was measured."""
    beyond = moments(table)
    return beyond == beyond.groupby([table["run"], table["seed"]]).transform("min")


def labels(table: pd.DataFrame, columns: list[str]) -> list[int]:
    """A number for each row; rows that agree in all these columns have the same number.

    SGD lacks SAM's radius: rows that both lack a value agree in it. Full batches agree, whatever
    their size.
    """
    known = with_full_batches(table)
    return list(known[columns].astype(str).groupby(columns, sort=False, dropna=False).ngroup())


def _settings(table: pd.DataFrame) -> list[str]:
    """The columns before the outcomes, and the moment, which counts as a setting."""
    outcomes = min(list(table).index(name) for name in OUTCOMES if name in table)
    return ["at", *(str(name) for name in list(table)[:outcomes] if name not in IDENTITY)]


def _varied(table: pd.DataFrame) -> list[str]:
    known = with_full_batches(table)
    return [name for name in _settings(known) if known[name].nunique(dropna=False) > 1]


def _rows(table: pd.DataFrame, sweep: str, every_moment: bool = False) -> list[int]:
    on = table["axes"].str.split(";").map(lambda names: sweep in names)
    return list(table.index[on & (first(table) | every_moment)])


def _words(key: str, axes: Mapping[str, tuple[str, str]]) -> str:
    """A setting in words: `optimizer.lr` is the learning rate, `width` the width."""
    if key == "at":
        return "epochs beyond the stopping rule"
    for sweep, (words, begins) in axes.items():
        if key in (sweep, begins):
            return words
    for words, begins in axes.values():
        if begins.endswith(".") and key.startswith(begins):
            own = key.removeprefix(begins)
            return words if own == "name" else f"{words}: {own}"
    return key
