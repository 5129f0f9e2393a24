"""A user's own torch module, imported by the name in the spec."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from flatlas.errors import FlatlasError, nearest
from flatlas.nets.modules import ModuleNet
from flatlas.nets.precision import keep_eps
from flatlas.nets.refusals import (
    differences,
    read_weights,
    refuse_integers,
    refuse_not_finite,
)
from flatlas.plan.families.own import Own
from flatlas.plan.fingerprint import find


def build(spec: Own, input_shape: tuple[int, int, int], outputs: int) -> ModuleNet:
    """The net of a class or function with its arguments."""
    make = _load(spec.module)
    trained = spec.weights is not None
    return ModuleNet(lambda: _with_weights(_made(make, spec), spec), input_shape, outputs, trained)


def _load(module: str) -> Callable[..., Any]:
    """The class or function of the spec, from the working folder.

    The plan has checked that the file is there. The folder is last in the search path, so its files
    hide no library.
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
            f"net.module: '{where}' is also the name of {imported.__file__}. Rename your file."
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
        raise FlatlasError(
            f"net.arguments: '{spec.module}' can't be called with {spec.arguments}: {error}"
        ) from error
    if not isinstance(made, nn.Module):
        raise FlatlasError(
            f"net.module: '{spec.module}' returns a {type(made).__name__}. "
            "It must return an nn.Module."
        )
    # Trainings give images in float32, whatever the precision of the module.
    single = made.float()
    keep_eps(single)
    return single


def _with_weights(module: nn.Module, spec: Own) -> nn.Module:
    """The module with the weights of the file, if any; the names must match exactly."""
    if spec.weights is None:
        return module
    subject = f"net.weights: '{spec.weights}'"
    found = _with_tied(read_weights(spec.weights, subject), module)
    try:
        module.load_state_dict(found)
    except RuntimeError as error:
        why = differences(found, module.state_dict()) or " ".join(str(error).split())
        raise FlatlasError(f"{subject} does not fit: {why}.") from error
    refuse_integers(found, module.state_dict(), subject)
    refuse_not_finite(module.named_parameters(), subject)
    return module


def _with_tied(found: dict[str, Tensor], module: nn.Module) -> dict[str, Tensor]:
    """The weights, with tied ones that safetensors' `save_model` left out."""
    wanted = module.state_dict(keep_vars=True)
    given = {id(wanted[name]): value for name, value in found.items() if name in wanted}
    tied = {name: given[id(one)] for name, one in wanted.items() if id(one) in given}
    return found | {name: value for name, value in tied.items() if name not in found}
