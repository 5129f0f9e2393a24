"""A user's own torch module, imported as the spec says."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from flatlas.errors import FlatlasError, nearest
from flatlas.nets.modules import ModuleNet
from flatlas.nets.refusals import read_weights, refuse_integers, refuse_not_finite
from flatlas.plan.families.own import Own
from flatlas.plan.fingerprint import find

# Weights that a message names.
MOST_NAMES = 3


def build(spec: Own, input_shape: tuple[int, int, int], outputs: int) -> ModuleNet:
    """The net that the class or function makes from its arguments, a new one at each call."""
    make = _load(spec.module)
    trained = spec.weights is not None
    return ModuleNet(lambda: _with_weights(_made(make, spec), spec), input_shape, outputs, trained)


def _load(module: str) -> Callable[..., Any]:
    """The class or function of the spec, from the working folder.

    The plan has seen the file there. The folder comes last in the search path, so that it hides no
    library.
    """
    where, _, what = module.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        imported = import_module(where)
    except Exception as error:
        raise FlatlasError(f"net.module: '{where}' can't be imported: {error}") from error
    if Path(str(imported.__file__)) != find(where):
        raise FlatlasError(
            f"net.module: '{where}' is also the name of {imported.__file__}: rename yours."
        )
    make: Callable[..., Any] | None = getattr(imported, what, None)
    if not callable(make):
        public = [name for name in vars(imported) if not name.startswith("_")]
        raise FlatlasError(
            f"net.module: {imported.__file__} has no class or function '{what}'."
            f"{nearest(what, public)}"
        )
    return make


def _made(make: Callable[..., Any], spec: Own) -> nn.Module:
    try:
        made = make(**spec.arguments)
    except TypeError as error:
        raise FlatlasError(f"net.arguments do not suit '{spec.module}': {error}") from error
    if not isinstance(made, nn.Module):
        raise FlatlasError(
            f"net.module: '{spec.module}' makes a {type(made).__name__}: it has to be an nn.Module."
        )
    return made


def _with_weights(module: nn.Module, spec: Own) -> nn.Module:
    """The module with the weights of the file, if any; the names must match exactly."""
    if spec.weights is None:
        return module
    whose = f"net.weights: '{spec.weights}'"
    found = read_weights(spec.weights, whose)
    try:
        module.load_state_dict(found)
    except RuntimeError as error:
        why = _differences(found, module.state_dict()) or " ".join(str(error).split())
        raise FlatlasError(f"{whose} does not fit: {why}.") from error
    refuse_integers(found, module.state_dict(), whose)
    refuse_not_finite(module.named_parameters(), whose)
    return module


def _differences(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> str:
    """The weights that a file lacks, those the module does not have, and those of another shape."""
    shapes = [
        f"{name} is {tuple(found[name].shape)}, in the module {tuple(one.shape)}"
        for name, one in wanted.items()
        if name in found and found[name].shape != one.shape
    ]
    lacking = [name for name in wanted if name not in found]
    unknown = [name for name in found if name not in wanted]
    said = {"it lacks ": lacking, "the module has no ": unknown, "": shapes}
    return "; ".join(f"{words}{_first(names)}" for words, names in said.items() if names)


def _first(names: Sequence[str]) -> str:
    """The first names, and how many more."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
