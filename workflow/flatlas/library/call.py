"""`measure`: measures of a model by name, in one call."""

import time
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from typing import Any

import torch
from pydantic import ConfigDict, create_model
from torch import nn
from tqdm import tqdm

import flatlas.library.measures
from flatlas.errors import FlatlasError, nearest
from flatlas.library.found import Found, Result
from flatlas.library.problem import BatchNorm, Problem, opened
from flatlas.models.losses import LossFunction
from flatlas.models.objective import Chosen
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
    loss: str | nn.Module | LossFunction = "cross_entropy",
    parameters: Chosen = None,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
    batch_norm: BatchNorm = "as it is",
    seed: int = 0,
    progress: bool = False,
) -> Found:
    """Measures of a model, each number with its error; the model stays as it was.

    `data`, and `test` for measures that compare with it, are a DataLoader, a list of batches
    (inputs, target), or two tensors. Inputs are a tensor, a tuple or a dictionary of the model's
    arguments. `measures` are names, or names with options: `{"hessian": {"top": 20}}`. `loss` is
    "cross_entropy", "bce", "mse", a loss of torch.nn, or a function of output and target that
    returns the mean over a batch. `parameters` chooses some by a pattern, as "blocks.*", several,
    or a function of name and parameter; otherwise those that require a gradient. The model is in
    evaluation mode, with its batch-norm statistics as they are, or recomputed on the data.
    """
    chosen = with_options(measures)
    with opened(model, data, test, loss, parameters, device, dtype, batch_norm, seed) as problem:
        return take(problem, chosen, progress)


def take(problem: Problem, chosen: Mapping[str, Mapping[str, Any]], progress: bool) -> Found:
    """Measures with their options, which have been checked."""
    results, seconds = {}, {}
    for name, options in tqdm(chosen.items(), disable=not progress, unit="measure"):
        began = time.monotonic()
        results[name] = _function(name)(problem, **options)
        seconds[name] = time.monotonic() - began
    return Found(results, seconds, problem.notes)


def with_options(measures: Measures) -> dict[str, dict[str, Any]]:
    """Each measure's options, checked before anything is computed."""
    if isinstance(measures, str):
        measures = [measures]
    asked = measures if isinstance(measures, Mapping) else {name: {} for name in measures}
    if not asked:
        raise FlatlasError(f"measures names none. Allowed: {', '.join(MEASURES)}.")
    return {name: _checked(name, options) for name, options in asked.items()}


def _checked(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    if name not in MEASURES:
        allowed = ", ".join(MEASURES)
        raise FlatlasError(f"'{name}' is no measure. Allowed: {allowed}.{nearest(name, MEASURES)}")
    given = signature(_function(name)).parameters.items()
    fields: dict[str, Any] = {
        key: (one.annotation, one.default) for key, one in given if one.kind is one.KEYWORD_ONLY
    }
    declared = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    return dict(validated(declared, options, lambda at: f"{name}: {dotted(at)}"))


def _function(name: str) -> Callable[..., Result]:
    """Imported only if it is taken."""
    function: Callable[..., Result] = import_module(f"flatlas.library.measures.{name}").measure
    return function
