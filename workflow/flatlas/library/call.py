"""`measure`: measures of a model by name, in one call."""

import time
from collections.abc import Iterable, Mapping
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from typing import Any, Unpack

import torch
from pydantic import BaseModel, ConfigDict, create_model
from torch import nn
from tqdm import tqdm

import flatlas.library.measures
from flatlas.errors import FlatlasError, nearest
from flatlas.library.found import Found
from flatlas.library.problem import Problem, Settings, opened
from flatlas.plan.mistakes import validated
from flatlas.plan.trees import dotted

# Names, or names with options.
Measures = Iterable[str] | Mapping[str, Mapping[str, Any]]
MEASURES = sorted(found.name for found in iter_modules(flatlas.library.measures.__path__))


def measure(
    model: nn.Module,
    data: Any,
    measures: Measures,
    *,
    test: Any = None,
    progress: bool = False,
    **settings: Unpack[Settings],
) -> Found:
    """Measures of a model, each number with its error. The model does not change.

    `data`, and `test` for measures that compare with it, are a DataLoader, a list of batches
    (inputs, target), or two tensors. Inputs are a tensor, a tuple or a dictionary of the model's
    arguments. `measures` are names, or names with options: `{"hessian": {"top": 20}}`. Settings:

    - `loss`: "cross_entropy", the default, "bce", "mse", a loss of torch.nn, or a function of
      output and target that returns the mean over a batch; the sum with `reduction` "sum".
    - `parameters`: a pattern of names, such as "blocks.*", several patterns, or a function of name
      and parameter; by default all parameters that require a gradient.
    - `device`, by default the NVIDIA GPU that the model is on, else the CPU.
    - `dtype`, `torch.float64` by default, or `torch.float32`.
    - `batch_norm`: the model is in evaluation mode, with its running statistics "as it is", the
      default, or "recomputed" on the data.
    - `seed` of all random numbers, by default 0.
    """
    chosen = with_options(measures)
    try:
        with opened(model, data, test, settings) as problem:
            return take(problem, chosen, progress)
    except torch.OutOfMemoryError as error:
        raise FlatlasError(
            "the measures need more memory than the GPU has free. Give smaller batches, "
            "dtype=torch.float32, or device='cpu'."
        ) from error


def take(problem: Problem, chosen: Mapping[str, Mapping[str, Any]], progress: bool) -> Found:
    """The results of the `chosen` measures, whose options have been checked."""
    check(problem, chosen)
    results, seconds = {}, {}
    for name, options in tqdm(chosen.items(), disable=not progress, unit="measure"):
        began = time.monotonic()
        results[name] = module(name).measure(problem, **_given(name, options))
        seconds[name] = time.monotonic() - began
    return Found(results, seconds, problem.notes)


def check(problem: Problem, chosen: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise each measure's errors that need no computation, such as that for an unknown layer.

    Raised later, such an error would lose the results of other measures.
    """
    for name, options in chosen.items():
        of_measure = getattr(module(name), "check", None)
        if of_measure is not None:
            of_measure(problem, **_given(name, options))


def with_options(measures: Measures) -> dict[str, dict[str, Any]]:
    """Each measure's options, checked before anything is computed."""
    if isinstance(measures, str):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise FlatlasError(f"measures is {measures!r}. Allowed: a list of {', '.join(MEASURES)}.")
    named: Iterable[tuple[Any, Any]] = ((one, {}) for one in measures)
    given = measures.items() if isinstance(measures, Mapping) else named
    # Names are checked before they become keys: a name that is not a string may not be hashable.
    chosen = {name: _checked(name, options) for name, options in given}
    if not chosen:
        raise FlatlasError(f"measures is empty. Allowed: {', '.join(MEASURES)}.")
    return chosen


def accepted(place: str, **given: tuple[Any, Any]) -> list[Any]:
    """The values converted to their types; each is given as (type, value). Errors name `place`."""
    fields: dict[str, Any] = {name: (kind, ...) for name, (kind, _) in given.items()}
    values = {name: value for name, (_, value) in given.items()}
    found = validated(create_model(place, **fields), values, lambda at: f"{place}: {dotted(at)}")
    return [value for _, value in found]


def _checked(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(name, str):
        raise FlatlasError(
            f"measures has {name!r}. Allowed: names, or one dictionary of names and options, as in "
            '{"hessian": {"top": 20}}.'
        )
    if name not in MEASURES:
        allowed = ", ".join(MEASURES)
        near = nearest(name, MEASURES)
        raise FlatlasError(f"'{name}' is not a measure. Allowed: {allowed}.{near}")
    if not isinstance(options, Mapping):
        raise FlatlasError(f"the options of {name} are {options!r}. Allowed: a dictionary.")
    return dict(validated(declared(name), options, lambda at: f"{name}: {dotted(at)}"))


def declared(name: str) -> type[BaseModel]:
    """The options of a measure, with types and defaults."""
    return _shared(name) or _keywords(name)


def _shared(name: str) -> type[BaseModel] | None:
    """The class of a measure's options, if it shares them with another measure."""
    options = signature(module(name).measure).parameters.get("options")
    return options.annotation if options else None


def _keywords(name: str) -> type[BaseModel]:
    """The keyword parameters of a measure."""
    fields: dict[str, Any] = {
        key: (one.annotation, ... if one.default is one.empty else one.default)
        for key, one in signature(module(name).measure).parameters.items()
        if one.kind is one.KEYWORD_ONLY
    }
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _given(name: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The keyword arguments of a measure."""
    shared = _shared(name)
    return {"options": shared(**options)} if shared else options


def module(name: str) -> Any:
    """The module of a measure, imported only now: `measure`, and its `check` if it has one."""
    return import_module(f"flatlas.library.measures.{name}")
