"""The data dictionary of the atlas' measure table, from the declarations of its columns."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from columns import listed
from pages import table

from flatlas.plan.columns import Column
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.paths import NETWORKS as NAME
from flatlas.plan.tables import NETWORKS, POINTS
from flatlas.report.rendering import render
from flatlas.studies.atlas.quantities import BASELINES, QUANTITIES, TAKEN, Quantity

Options = Mapping[str, Mapping[str, Any]]


def dictionary(nets: pd.DataFrame) -> str:
    """The page of a measure table: each of its columns, and the options of each measure."""
    options: Options = nets.attrs["options"]
    return render(
        "networks.md",
        name=NAME,
        rows=f"{len(nets):,}",
        nets=f"{len(nets.drop_duplicates(['run', 'seed'])):,}",
        runs=nets["run"].nunique(),
        networks=listed(NETWORKS),
        measures=_measures(nets, options),
        options=_options(options),
    )


def _measures(nets: pd.DataFrame, options: Options) -> str:
    """A row for each measure in the table."""
    rows = []
    for name, quantity in QUANTITIES.items():
        if name in nets and name not in NETWORKS:
            column = _declared(name, quantity, options)
            quality = ("✓" if f"{name}_{kind}" in nets else "" for kind in ("error", "converged"))
            meaning = _meaning(name, quantity, column)
            rows.append((f"`{name}`", column.unit, meaning, *quality, nets[name].notna().sum()))
    return table(("column", "unit", "meaning", "`_error`", "`_converged`", "rows with it"), rows)


def _declared(name: str, quantity: Quantity, options: Options) -> Column:
    """The column that a quantity's measure declares or, if it is derived, that of figures."""
    measure, part = TAKEN[quantity.part]
    if measure in options:
        declared = MEASURES[options[measure]["measure"]].tables[part]
        if name in declared:
            return declared[name]
    return POINTS[name]


def _meaning(name: str, quantity: Quantity, column: Column) -> str:
    kind = "*Baseline*: " if name in BASELINES else ""
    tested = f". † It knows {quantity.tested}" if quantity.tested else ""
    same = quantity.words == column.meaning
    return f"{kind}{quantity.words}{'' if same else f': {column.meaning}'}{tested}"


def _options(options: Options) -> str:
    rows = [
        (f"`{name}`", ", ".join(f"{key}: {value}" for key, value in sorted(taken.items())))
        for name, taken in options.items()
    ]
    return table(("measure", "options"), rows)
