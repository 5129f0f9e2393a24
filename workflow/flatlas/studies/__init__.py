"""The studies, a folder each: a module draws a figure and judges its claims. No torch."""

from importlib import import_module
from typing import Any


def load_figure(study: str, figure: str, module: str) -> Any:
    """The object that has the figure's `draw` and `claims`: its own module, or an entry of another.

    A module that draws several figures lists them by name in its dictionary `FIGURES`.
    """
    found = import_module(f"flatlas.studies.{study}.{module}")
    return found if module == figure else found.FIGURES[figure]
