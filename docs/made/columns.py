"""Tables of columns, from the declarations in workflow/flatlas/plan, for docs/columns.md."""

import ast
from collections.abc import Iterator

from pages import ROOT, table

from flatlas.plan.columns import Columns
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.tables import FILES, PLACE, POINTS

HEADER = ("column", "type", "unit", "meaning")
MODULES = ROOT / "workflow" / "flatlas" / "measures"


def files() -> str:
    """The columns of each file that no measure writes."""
    return "\n\n".join(f"### `{path}`\n\n{listed(columns)}" for path, columns in FILES.items())


def place() -> str:
    """The columns that each table of a measure begins with."""
    return listed(PLACE)


def points() -> str:
    """The columns of figures' tables that no measure has."""
    return listed(POINTS)


def of_measures() -> str:
    """A section for each measure: the docstring of its function, and the columns of its tables."""
    return "\n\n".join(part for name in MEASURES for part in _measure(name))


def _measure(name: str) -> Iterator[str]:
    yield f"### {name}"
    yield _rows(name)
    for one, columns in MEASURES[name].tables.items():
        whose, shared = _contained(name, columns)
        own = {key: column for key, column in columns.items() if key not in shared}
        yield f"`{one}`{whose}\n\n{listed(own)}"


def _contained(name: str, columns: Columns) -> tuple[str, Columns]:
    """Another measure's table that is wholly in these columns, if there is one."""
    for other, measure in MEASURES.items():
        for one, shared in measure.tables.items():
            if other != name and shared.items() <= columns.items():
                return f": the columns of `{one}` of [{other}](#{other}), and", shared
    return "", {}


def _rows(name: str) -> str:
    """The docstring of a measure's function, read without importing torch."""
    tree = ast.parse((MODULES / f"{name}.py").read_text(encoding="utf-8"))
    functions = (one for one in tree.body if isinstance(one, ast.FunctionDef))
    (measure,) = (one for one in functions if one.name in ("measure", "measure_stack"))
    return " ".join((ast.get_docstring(measure) or "").split())


def listed(columns: Columns) -> str:
    """A row for each column."""
    rows = [(f"`{name}`", c.type.__name__, c.unit, c.meaning) for name, c in columns.items()]
    return table(HEADER, rows)


COLUMNS = {"files": files, "place": place, "points": points, "measure-columns": of_measures}
