"""The tables of a measure, and a check against its declaration in `flatlas.plan.measurements`."""

from collections.abc import Collection, Iterable, Mapping

import pandas as pd
from pandas import DataFrame, Series
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.plan.columns import Columns
from flatlas.plan.measure_specs import MEASURES

# The first columns of each table in a file: the training and the moment.
PLACE = {"seed": "int64", "at": "str", "epoch": "int64"}
# Files store whole numbers as floats: a column then has the same type with and without NaN.
WRITTEN = {float: "float64", int: "float64", bool: "bool", str: "str"}
# The kinds of NumPy's types that are allowed for a declared type.
KINDS = {float: "fiu", int: "fiu", bool: "b", str: "O"}


def table_of(columns: Mapping[str, Tensor], numbered: str = "") -> DataFrame:
    """A column for each tensor, flattened; `numbered` names a first column, which counts from 1."""
    table = DataFrame({name: column.flatten().cpu().numpy() for name, column in columns.items()})
    if numbered:
        table.insert(0, numbered, range(1, len(table) + 1))
    return table


def checked(measure: str, tables: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """The same tables; raise an error if names or columns differ from the declaration."""
    declared = MEASURES[measure].tables
    if not isinstance(tables, Mapping):
        raise FlatlasError(
            f"the function in workflow/flatlas/measures/{measure}.py returns "
            f"{type(tables).__name__}. Allowed: a dict of its tables: {', '.join(declared)}."
        )
    _compare(f"{measure} returns tables other than declared", [*tables], [*declared])
    for name, columns in declared.items():
        table, place = tables[name], f"the table '{name}' of {measure}"
        _compare(f"{place} has columns other than declared", [*table], [*columns])
        for column, declared_as in columns.items():
            found, kind = table[column].dtype, declared_as.type
            if len(table) and found.kind not in KINDS[kind]:
                raise FlatlasError(
                    f"{place} has '{column}' as {found}, but declares {kind.__name__}. "
                    "Convert the column, or change its declaration in plan/measurements."
                )
    return {name: tables[name][[*columns]] for name, columns in declared.items()}


def _compare(what: str, found: Collection[str], declared: Collection[str]) -> None:
    missing = [name for name in declared if name not in found]
    unknown = [name for name in found if name not in declared]
    if missing or unknown:
        lists = {"Missing": missing, "Unknown": unknown}
        lines = " ".join(f"{word}: {', '.join(names)}." for word, names in lists.items() if names)
        raise FlatlasError(
            f"{what}. {lines} Return these, or change the declaration in plan/measurements."
        )


def joined(parts: Iterable[DataFrame], columns: Columns) -> DataFrame:
    """The rows of all parts; without any, an empty table with all columns and their types."""
    written = PLACE | {name: WRITTEN[column.type] for name, column in columns.items()}
    empty = DataFrame({name: Series(dtype=dtype) for name, dtype in written.items()})
    return pd.concat([empty, *(part for part in parts if len(part))], ignore_index=True)
