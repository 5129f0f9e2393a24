"""Check that each figure of a study can be drawn: its module and its caption exist."""

from pathlib import Path
from typing import TYPE_CHECKING

from flatlas.errors import FlatlasError, nearest
from flatlas.plan.code import STUDIES, defines, listed

if TYPE_CHECKING:
    from flatlas.plan.plan import FigurePlan, Plan


def check_drawings(plan: "Plan") -> None:
    """Refuse a figure without its module or caption, before anything is trained for it."""
    for figure in plan.figures.values():
        _check(figure, f"config/studies/{figure.study}.yaml: figures.{figure.name}")


def _check(figure: "FigurePlan", place: str) -> None:
    module = STUDIES / figure.study / f"{figure.module}.py"
    if not module.is_file():
        there = sorted(path.stem for path in module.parent.glob("*.py") if defines(path, "draw"))
        raise FlatlasError(
            f"{place} needs a function draw(material) in {_shown(module)}, which is not there."
            f"{nearest(figure.module, there)}"
        )
    if figure.module != figure.name and figure.name not in listed(module):
        raise FlatlasError(
            f'{place} needs an entry "{figure.name}" in the dictionary FIGURES of {_shown(module)}.'
        )
    caption = module.with_name(f"{figure.name}.rst")
    if not caption.is_file():
        raise FlatlasError(f"{place} needs a caption in {_shown(caption)}.")


def _shown(path: Path) -> Path:
    return path.relative_to(STUDIES.parents[2])
