"""Check that each figure of a study can be drawn: its module and its caption exist."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flatlas.errors import FlatlasError, nearest
from flatlas.plan.code import STUDIES
from flatlas.plan.fingerprint import missing_imports, shown

if TYPE_CHECKING:
    from flatlas.plan.plan import FigurePlan, Plan


def check_drawings(plan: "Plan") -> None:
    """Refuse a figure that lacks its module or caption, before anything is trained for it."""
    for figure in plan.figures.values():
        _check_imports(figure.study)
        _check(figure)


def what_is_checked() -> list[tuple[Any, ...]]:
    """For each module of a study, what the check reads in it."""
    modules = sorted(STUDIES.glob("*/*.py"))
    return [
        (str(path.relative_to(STUDIES)), *_functions_and_keys(path), missing_imports(path))
        for path in modules
    ]


def _check_imports(study: str) -> None:
    """Refuse a module of the study's folder that imports a missing module of the library."""
    for path in sorted((STUDIES / study).glob("*.py")):
        for module in missing_imports(path):
            raise FlatlasError(f"{shown(path)} imports {module}, which does not exist.")


def _check(figure: "FigurePlan") -> None:
    drawing, place = figure.drawing, figure.place
    module = STUDIES / drawing.study / f"{drawing.module}.py"
    if not module.is_file():
        there = sorted(path.stem for path in module.parent.glob("*.py"))
        raise FlatlasError(
            f"{place} needs a function draw(material) in {shown(module)}, which does not exist."
            f"{nearest(drawing.module, there)}"
        )
    functions, keys = _functions_and_keys(module)
    if drawing.module != drawing.figure and drawing.figure not in keys:
        raise FlatlasError(
            f'{place} needs an entry "{drawing.figure}" in the dictionary FIGURES of '
            f"{shown(module)}."
        )
    if drawing.module == drawing.figure and "draw" not in functions:
        raise FlatlasError(f"{place} needs a function draw(material) in {shown(module)}.")
    if figure.claims and "claims" not in functions:
        raise FlatlasError(
            f"{place} needs a function claims(material) in {shown(module)}. If the figure claims "
            "nothing, add 'claims: false'."
        )
    caption = module.with_name(f"{drawing.figure}.rst")
    if not caption.is_file():
        raise FlatlasError(f"{place} needs a caption in {shown(caption)}.")


def _functions_and_keys(module: Path) -> tuple[list[str], list[str]]:
    """The functions and methods of a module, and the keys of its dictionaries."""
    text = module.read_text(encoding="utf-8")
    return re.findall(r"def (\w+)\(", text), re.findall(r'"(\w+)":', text)
