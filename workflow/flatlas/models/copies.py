"""A copy of a module, even of one that keeps tensors that it computed."""

from collections.abc import Iterable
from copy import deepcopy

import torch
from torch import Tensor, nn

from flatlas.errors import FlatlasError


def copied(module: nn.Module, name: str, shared: Iterable[Tensor] = ()) -> nn.Module:
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
    originals = {*map(id, module.modules())}
    for part in made.modules():
        if id(part) in originals:
            raise FlatlasError(
                f"a copy of the {name} has the same {type(part).__name__}, as by a __deepcopy__ "
                "that returns the module itself: measures would change it. Let __deepcopy__ copy."
            )
    return made


def _detached(one: Tensor) -> Tensor:
    """A copy without the graph that computed it."""
    found = one.detach().clone()
    return nn.Parameter(found, one.requires_grad) if isinstance(one, nn.Parameter) else found
