"""A copy of a module, even of one that keeps tensors that it computed."""

from collections.abc import Collection, Iterator
from copy import deepcopy
from itertools import chain

import torch
from torch import Tensor, nn

from flatlas.errors import FlatlasError


def copied(module: nn.Module, name: str, shared: Collection[Tensor] = ()) -> nn.Module:
    """A copy, whose tensors are detached from the graph that computed them.

    It has the same `shared` tensors. Errors call the module `name`.
    """
    kept = [
        one
        for part in module.modules()
        for one in (*vars(part).values(), *part._buffers.values(), *part._parameters.values())
    ]
    # deepcopy copies some sparse tensors, but not those with compressed rows.
    computed = {
        id(one): _detached(one)
        for one in kept
        if isinstance(one, Tensor) and (one.grad_fn or one.layout is not torch.strided)
    } | {id(one): one for one in shared}
    try:
        made = deepcopy(module, computed)
    except Exception as error:
        raise FlatlasError(
            f"the {name} can't be copied, and measures are taken of a copy: {error}"
        ) from error
    kept_alike = {*map(id, _parts(module))} - {*map(id, shared)}
    for part in _parts(made):
        if id(part) in kept_alike:
            raise FlatlasError(
                f"a copy of the {name} has the same {type(part).__name__}, as by a __deepcopy__ "
                "that returns what it should copy: measures would change it. Let it copy."
            )
    return made


def _parts(module: nn.Module) -> Iterator[nn.Module | Tensor]:
    return chain(module.modules(), module.parameters(), module.buffers())


def _detached(one: Tensor) -> Tensor:
    """A copy without the graph that computed it."""
    found = one.detach().clone()
    return nn.Parameter(found, one.requires_grad) if isinstance(one, nn.Parameter) else found
