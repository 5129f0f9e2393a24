"""The parameters of a model that are measured: all that require a gradient, or a user's choice."""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from flatlas.errors import FlatlasError, named
from flatlas.models.quantized import quantized, refuse_rounding
from flatlas.models.tensors import described

# A pattern of parameters' names, several, or a function of name and parameter.
Chosen = str | Sequence[str] | Callable[[str, nn.Parameter], bool] | None


def chosen_names(model: nn.Module, chosen: Chosen) -> list[str]:
    """The names of the chosen parameters, in the order of the model; an error if there are none."""
    _refuse_unusable(model)
    parameters = dict(model.named_parameters())
    if chosen is None:
        names = [name for name, parameter in parameters.items() if parameter.requires_grad]
        empty = "no parameter requires a gradient. Name some: parameters='*'"
    else:
        names = _fitting(model, chosen)
        empty = f"parameters={chosen!r} fits none. Allowed: {', '.join(parameters)}"
    if not names:
        raise FlatlasError(f"the model has nothing to measure: {empty}.")
    if not any(parameters[name].numel() for name in names):
        raise FlatlasError(f"the model has nothing to measure: '{names[0]}' is empty.")
    for name in names:
        one = parameters[name]
        if not one.is_floating_point() or one.layout is not torch.strided:
            kind = one.layout if one.is_floating_point() else one.dtype
            raise FlatlasError(
                f"'{name}' is {kind}: leave it out, by patterns in `parameters` or a function of "
                "name and parameter."
            )
    _refuse_shared(parameters, names)
    return names


def _refuse_unusable(model: nn.Module) -> None:
    """Raise an error if a model has no parameters, or any without numbers that can change."""
    if any(isinstance(part, torch.jit.ScriptModule) for part in model.modules()):
        raise FlatlasError(
            "the model, or a part of it, is a ScriptModule, whose parameters stay as they are. "
            "Give it as it was before torch.jit.script or torch.jit.trace."
        )
    refuse_rounding(model)
    parameters = dict(model.named_parameters())
    if not parameters:
        whole = quantized(model)
        hint = " Measure it as it was before its layers were quantized." if whole else ""
        raise FlatlasError(f"the model has nothing to measure: it has no parameters.{hint}")
    every = (*parameters.items(), *model.named_buffers())
    lazy = [name for name, one in every if is_lazy(one)]
    if lazy:
        raise FlatlasError(f"'{lazy[0]}' has no shape yet: pass one batch through the model.")
    for name, one in every:
        if one.is_meta:
            raise FlatlasError(f"'{name}' is on the device meta, without numbers: load them.")
        # torch can't convert it in place.
        if name in parameters and one.layout not in (torch.strided, torch.sparse_coo):
            raise FlatlasError(
                f"'{name}' has the layout {one.layout}. Allowed for parameters: torch.strided, or, "
                "if it is not measured, torch.sparse_coo. If it is constant, make it a buffer."
            )
        numbers = _numbers(one)
        if name in parameters and not numbers.isfinite().all():
            raise FlatlasError(f"'{name}' has NaN or infinite weights: the training diverged.")
        # An infinite buffer may be a mask of attention.
        if numbers.isnan().any():
            raise FlatlasError(f"'{name}' has NaN. Allowed: numbers, even infinite ones.")


def _numbers(one: Tensor) -> Tensor:
    """The numbers of a tensor, without the zeros that a sparse one leaves out."""
    if one.layout is torch.sparse_coo:
        return one.detach().coalesce().values()
    return one.detach() if one.layout is torch.strided else one.detach().values()


def _fitting(model: nn.Module, chosen: Any) -> list[str]:
    """The first names of the chosen parameters; a pattern may fit any name of a parameter."""
    if callable(chosen):
        return [name for name, one in model.named_parameters() if _is_chosen(chosen, name, one)]
    patterns = [chosen] if isinstance(chosen, str) else chosen
    if not isinstance(patterns, list | tuple) or not all(isinstance(p, str) for p in patterns):
        raise FlatlasError(
            f"parameters is {described(chosen)}. Allowed: a pattern of names, as 'blocks.*', "
            "several, or a function of name and parameter."
        )
    names = dict(model.named_parameters(remove_duplicate=False))
    fitting = {pattern: [name for name in names if fnmatch(name, pattern)] for pattern in patterns}
    for pattern, found in fitting.items():
        if not found:
            raise FlatlasError(
                f"the model has nothing to measure: parameters names '{pattern}', which fits none."
                f" Allowed: {', '.join(names)}."
            )
    kept = {id(names[name]) for found in fitting.values() for name in found}
    return [name for name, one in model.named_parameters() if id(one) in kept]


def _is_chosen(chosen: Callable[..., Any], name: str, one: nn.Parameter) -> bool:
    try:
        return bool(chosen(name, one))
    except Exception as error:
        raise FlatlasError(
            f"the function `parameters` fails for '{name}': {named(error)}. Allowed: a function "
            "of name and parameter."
        ) from error


def _refuse_shared(parameters: Mapping[str, nn.Parameter], names: Sequence[str]) -> None:
    """Raise an error if a chosen parameter shares its memory with another: training moves both."""
    first: dict[int, str] = {}
    for name, one in parameters.items():
        # Sparse and empty tensors have no place in memory; those of other classes may have none.
        plain = type(one) is nn.Parameter and one.layout is torch.strided
        if not plain or not one.numel():
            continue
        other = first.setdefault(one.data_ptr(), name)
        if other != name and not {other, name}.isdisjoint(names):
            raise FlatlasError(
                f"'{other}' and '{name}' share their numbers, as after b.data = a.data, but count "
                "as two. Make them one parameter, as in b = a, or copy the numbers."
            )
