"""flatlas: an atlas of flat minima, from data set to figure, and its measures of any model.

    found = flatlas.measure(model, loader, ["hessian", "gauss_newton"])

Data flows one way through the packages, and so do the imports::

    plan, store  ->  data, nets  ->  training  ->  measures
    store  ->  evidence  ->  plotting, claims  ->  studies, report
    models  ->  library

``jobs`` is separate: what every script does around its library call.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flatlas.errors import FlatlasError
    from flatlas.library.call import measure
    from flatlas.library.invariance import invariance
    from flatlas.library.surface import surface
    from flatlas.library.tracker import Tracker

# Names by the module that has them, which is imported at first use: a dry run needs no torch.
PUBLIC = {
    "measure": "flatlas.library.call",
    "invariance": "flatlas.library.invariance",
    "surface": "flatlas.library.surface",
    "Tracker": "flatlas.library.tracker",
    "FlatlasError": "flatlas.errors",
}
__all__ = ["FlatlasError", "Tracker", "invariance", "measure", "surface"]


def __getattr__(name: str) -> Any:
    """A public name."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'flatlas' has no attribute '{name}'")
    return getattr(import_module(PUBLIC[name]), name)
