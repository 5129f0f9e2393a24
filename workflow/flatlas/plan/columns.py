"""The columns of a table: the type of each, what it means and its unit."""

from typing import Literal, NamedTuple, get_args

from flatlas.errors import FlatlasError

TYPES = (float, int, bool, str)
# Losses are cross-entropies in nats; w is the unit of a weight. Numbers, counts, shares and names
# have no unit.
Unit = Literal[
    "", "%", "nat", "√nat", "nat/w", "nat²/w²", "nat/w²", "w²/nat", "w", "w²", "1/w", "1/w²",
    "epochs", "s", "MiB",
]  # fmt: skip


class Column(NamedTuple):
    """The type of a column's values, what they mean, and their unit."""

    type: type
    meaning: str
    unit: Unit = ""


Columns = dict[str, Column]
Declared = tuple[type, str] | tuple[type, str, Unit]


def columns(**declared: Declared) -> Columns:
    """The columns of a table, in the order in which they are written."""
    for name, column in declared.items():
        if not isinstance(column, tuple) or not 2 <= len(column) <= 3 or not column[1]:
            raise FlatlasError(
                f"the column '{name}' has no meaning. Declare its type, its meaning and its unit, "
                f'if it has one: {name}=(float, "the largest loss found", "nat").'
            )
        kind, *_, unit = Column(*column)
        if kind not in TYPES:
            allowed = ", ".join(one.__name__ for one in TYPES)
            given = f"the column '{name}' is of type {kind.__name__}"
            raise FlatlasError(f"{given}. Allowed: {allowed}.")
        if unit not in get_args(Unit):
            allowed = ", ".join(filter(None, get_args(Unit)))
            raise FlatlasError(f"the unit of '{name}' is '{unit}'. Allowed: {allowed}, or none.")
    return {name: Column(*column) for name, column in declared.items()}


# A column of several tables.
LOSS = Column(float, "L, the mean loss on S", "nat")


def search(residual: str, unit: Unit = "") -> Columns:
    """The last columns of a table of search results; `residual` says what the residual means."""
    return columns(
        residual=(float, residual, unit),
        iterations=(int, "steps of the search"),
        converged=(bool, "whether the residual is within the search's tolerance"),
    )
