"""Whether a figure that a study declares can be drawn: its function and its caption are there."""

import ast
from functools import cache
from pathlib import Path

from flatlas.errors import FlatlasError, nearest
from flatlas.plan.fingerprint import LIBRARY
from flatlas.plan.plan import FigurePlan, Plan

FIGURES = LIBRARY / "figures"
CAPTIONS = LIBRARY.parent / "report"


def check_drawings(plan: Plan) -> None:
    """Refuse a figure without its function or caption, before anything is trained for it."""
    for figure in plan.figures.values():
        _check(figure, f"config/studies/{figure.study}.yaml: figures.{figure.name}")


def _check(figure: FigurePlan, place: str) -> None:
    module = FIGURES / f"{figure.study}.py"
    functions = _functions(module)
    if figure.name not in functions:
        raise FlatlasError(
            f"{place} needs a function {figure.name}(material) in {_shown(module)}; there "
            f"{'are ' + ', '.join(functions) if functions else 'is none yet'}."
            f"{nearest(figure.name, functions)}"
        )
    caption = CAPTIONS / f"{figure.target}.rst"
    if not caption.is_file():
        raise FlatlasError(f"{place} needs a caption in {_shown(caption)}.")


@cache
def _functions(module: Path) -> list[str]:
    """The public functions of a module, read without importing it."""
    if not module.is_file():
        return []
    body = ast.parse(module.read_text()).body
    names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    return [name for name in names if not name.startswith("_")]


def _shown(path: Path) -> Path:
    return path.relative_to(LIBRARY.parents[1])
