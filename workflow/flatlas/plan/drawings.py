"""Whether a figure that a study declares can be drawn: its module and its caption are there."""

from pathlib import Path
from typing import TYPE_CHECKING

from flatlas.errors import FlatlasError, nearest
from flatlas.plan.code import STUDIES

if TYPE_CHECKING:
    from flatlas.plan.plan import FigurePlan, Plan


def check_drawings(plan: "Plan") -> None:
    """Refuse a figure without its module or caption, before anything is trained for it."""
    for figure in plan.figures.values():
        _check(figure, f"config/studies/{figure.study}.yaml: figures.{figure.name}")


def _check(figure: "FigurePlan", place: str) -> None:
    module = STUDIES / figure.study / f"{figure.name}.py"
    if not module.is_file():
        there = sorted(path.stem for path in module.parent.glob("*.py") if _draws(path))
        raise FlatlasError(
            f"{place} needs a function draw(material) in {_shown(module)}, which is not there."
            f"{nearest(figure.name, there)}"
        )
    caption = module.with_suffix(".rst")
    if not caption.is_file():
        raise FlatlasError(f"{place} needs a caption in {_shown(caption)}.")


def _draws(module: Path) -> bool:
    """Whether a module is a figure; panels that several share lie beside them."""
    return "\ndef draw(material" in module.read_text(encoding="utf-8")


def _shown(path: Path) -> Path:
    return path.relative_to(STUDIES.parents[2])
