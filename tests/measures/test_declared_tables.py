"""Every measure returns the tables that it declares, and an empty one has their columns."""

import pandas as pd
import pytest
from every_measure import options_of, solution_for
from solutions import make_solution

from flatlas.errors import FlatlasError
from flatlas.measures import duality, measure, orthant, regret_slice
from flatlas.measures.tables import joined
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.measurements.measurement import Measurement, columns
from flatlas.store.tables import read_table, write_table

KINDS = {float: "f", int: "i", bool: "b", str: "O"}


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_returns_the_declared_tables_and_the_same_ones_again(monkeypatch, name):
    monkeypatch.setattr(orthant, "SAMPLES", 1000)
    monkeypatch.setattr(regret_slice, "POINTS", 3)
    found, again = (measure(name, solution_for(name), options_of(name)) for _ in range(2))
    kinds = {
        table: {column: rows[column].dtype.kind for column in rows} for table, rows in found.items()
    }
    assert all(len(rows) for rows in found.values())
    assert kinds == {
        table: {column: KINDS[kind] for column, kind in declared.items()}
        for table, declared in MEASURES[name].tables.items()
    }
    assert all(again[table].equals(rows) for table, rows in found.items())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.drop(columns="gap"), r"'directions' of duality .* Missing: gap\."),
        (lambda table: table.assign(gaps=1.0), r"'directions' of duality .* Unknown: gaps\."),
        (lambda table: table.assign(gap="1"), r"'directions' of duality declares 'gap' float"),
        (None, r"Missing: directions, summary\. Unknown: direction\."),
    ],
)
def test_other_tables_or_columns_than_declared_are_refused(monkeypatch, change, said):
    taken = duality.measure

    def changed(solution, options):
        tables = taken(solution, options)
        if change is None:
            return {"direction": tables["directions"]}
        return tables | {"directions": change(tables["directions"])}

    monkeypatch.setattr(duality, "measure", changed)
    with pytest.raises(FlatlasError, match=said):
        measure("duality", make_solution("two_hidden"), options_of("duality"))


def test_a_table_without_rows_has_the_columns_and_types_of_one_with_rows(tmp_path):
    declared = columns(function=str, rank=int, width=float, converged=bool)
    place = {"seed": 0, "at": "final", "epoch": 3}
    row = pd.DataFrame([place | {"function": "0f", "rank": 1, "width": 0.5, "converged": True}])
    for name, parts in {"some": [row, row], "none": []}.items():
        write_table(tmp_path / f"{name}.parquet", joined(parts, declared))
    some, none = (read_table(tmp_path / f"{name}.parquet") for name in ("some", "none"))
    assert len(none) == 0 and len(some) == 2
    assert none.dtypes.to_dict() == some.dtypes.to_dict()
    assert [some[name].dtype.kind for name in declared] == ["O", "f", "f", "b"]


def test_a_declaration_without_tables_or_with_an_unknown_type_is_refused():
    with pytest.raises(FlatlasError, match="Trace declares no tables"):
        type("Trace", (Measurement,), {"__annotations__": {"measure": str}, "__module__": "own"})
    with pytest.raises(FlatlasError, match="'trace' is of type list"):
        columns(layer=str, trace=list)
