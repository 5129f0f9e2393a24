"""The path norm of a chain of dense layers with ReLU."""

from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import nn

from flatlas.library.defined import Undefined
from flatlas.models.tensors import exact

LAYERS = (nn.Linear, nn.ReLU, nn.Dropout, nn.Flatten, nn.Identity)


@torch.no_grad()
def path_norm(model: nn.Module) -> float:
    """The root of the sum over paths of the products of their squared weights (Neyshabur 2015).

    A path leads from an input or a bias to an output.
    """
    dense = [layer for layer in _layers(model) if isinstance(layer, nn.Linear)]
    if not dense:
        raise Undefined("path_norm needs dense layers, and the model has none.")
    if not all(
        isinstance(layer.weight, nn.Parameter) and isinstance(layer.bias, nn.Parameter | None)
        for layer in dense
    ):
        raise Undefined(
            "path_norm needs weights that are parameters, but those of an nn.Linear are computed "
            "from others, as by pruning or weight norm."
        )
    if any(one.out_features != other.in_features for one, other in pairwise(dense)):
        raise Undefined(
            "path_norm needs a chain in which each nn.Linear takes as many numbers as the one "
            "before it makes, but here one works at each position, and the next on all positions."
        )
    # The network with squared weights, for an input of ones.
    x = torch.ones(
        1, dense[0].in_features, dtype=torch.float64, device=exact(dense[0].weight).device
    )
    for layer in dense:
        bias = None if layer.bias is None else exact(layer.bias).square()
        x = nn.functional.linear(x, exact(layer.weight).square(), bias)
    return float(x.sum().sqrt())


def _layers(model: nn.Module) -> Iterator[nn.Module]:
    """The layers of a chain in their order."""
    # A subclass may have its own forward, such as one with a shortcut.
    if isinstance(model, nn.Sequential) and type(model).forward is nn.Sequential.forward:
        for child in model:
            yield from _layers(child)
    elif type(model) in LAYERS:
        yield model
    else:
        raise Undefined(
            "path_norm needs nn.Linear and nn.ReLU in an nn.Sequential, but the model has a "
            f"{type(model).__name__}."
        )
