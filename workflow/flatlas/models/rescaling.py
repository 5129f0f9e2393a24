"""Rescalings of a model's weights that do not change its function, found by tracing the model.

ReLU lets a positive factor through: if a layer's output grows by α, so do all later activations, up
to layers that undo the factor. A linear layer undoes it if its weights are divided by α, and batch
norm if its statistics grow with its input.
"""

import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor, fx, nn
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd

from flatlas.errors import FlatlasError

LINEAR = (nn.Linear, _ConvNd)
# Modules, functions and methods of a tensor that return α f(x) for αx.
HOMOGENEOUS = (
    *(nn.ReLU, nn.LeakyReLU, nn.PReLU, nn.Identity, nn.Flatten, nn.Unflatten),
    *(nn.modules.dropout._DropoutNd, nn.modules.pooling._MaxPoolNd, nn.modules.pooling._AvgPoolNd),
    *(nn.modules.pooling._AdaptiveAvgPoolNd, nn.modules.pooling._AdaptiveMaxPoolNd),
)
FUNCTIONS = {
    *(torch.relu, functional.relu, functional.leaky_relu, functional.dropout, operator.getitem),
    *(torch.flatten, torch.mean, torch.reshape, torch.squeeze, torch.unsqueeze, torch.permute),
    *(functional.max_pool1d, functional.max_pool2d, functional.max_pool3d),
    *(functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d),
    *(functional.adaptive_avg_pool1d, functional.adaptive_avg_pool2d),
    *(functional.adaptive_max_pool1d, functional.adaptive_max_pool2d),
}
METHODS = {
    *("relu", "flatten", "mean", "view", "reshape"),
    *("squeeze", "unsqueeze", "permute", "transpose", "contiguous"),
}
# Methods whose result depends on the shape alone.
SHAPES = {"size", "dim", "numel"}


@dataclass(frozen=True)
class Rescaling:
    """A layer whose weights and bias may be multiplied, and the later layers that undo it."""

    layer: str
    undone_by: tuple[str, ...]

    @torch.no_grad()
    def apply(self, model: nn.Module, factor: float) -> None:
        """Rescale the model in place."""
        above = model.get_submodule(self.layer)
        for parameter in above.parameters(recurse=False):
            parameter.mul_(factor)
        for name in self.undone_by:
            below = model.get_submodule(name)
            if isinstance(below, _BatchNorm):
                _grow(below, factor)
            else:
                assert isinstance(below.weight, Tensor)
                below.weight.div_(factor)


def _grow(norm: _BatchNorm, factor: float) -> None:
    """Give batch norm the statistics of αx; ε counts as variance, so it must grow, too."""
    assert norm.running_mean is not None and norm.running_var is not None
    norm.running_mean.mul_(factor)
    norm.running_var.add_(norm.eps).mul_(factor**2).sub_(norm.eps)


def rescalings(model: nn.Module) -> list[Rescaling]:
    """All rescalings of a model in evaluation mode; an error if there are none."""
    try:
        graph = fx.symbolic_trace(model).graph
    except Exception as error:
        raise FlatlasError(
            f"the model can't be traced by torch.fx, which finds its rescalings: {error}. Allowed: "
            "a model whose forward does not depend on the values of its inputs."
        ) from error
    own = _called_once(model, graph)
    found = []
    for node, layer in own.items():
        ends = _ends(node, own) if _can_be_multiplied(layer) else None
        if ends is not None:
            found.append(Rescaling(str(node.target), tuple(str(end.target) for end in ends)))
    if not found:
        raise FlatlasError(
            "the model has no rescaling that keeps its function. It needs two linear "
            "layers, convolutions or batch norms with nothing but ReLU, pooling, dropout and the "
            "like between them."
        )
    return found


def _called_once(model: nn.Module, graph: fx.Graph) -> dict[fx.Node, nn.Module]:
    """The modules that a graph calls, without those whose weights or statistics are used twice."""
    calls = [node for node in graph.nodes if node.op == "call_module"]
    modules = {node: model.get_submodule(str(node.target)) for node in calls}
    tensors = dict(_named_tensors(model))
    read = (str(node.target) for node in graph.nodes if node.op == "get_attr")
    used = Counter(id(one) for module in modules.values() for _, one in _named_tensors(module))
    used.update(id(tensors[name]) for name in read if name in tensors)
    return {
        node: module
        for node, module in modules.items()
        if all(used[id(one)] == 1 for _, one in _named_tensors(module))
    }


def _named_tensors(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    return chain(module.named_parameters(), module.named_buffers())


def _can_be_multiplied(layer: nn.Module) -> bool:
    return isinstance(layer, (*LINEAR, _BatchNorm)) and _has_own_weight(layer)


def _can_divide(layer: nn.Module | None) -> bool:
    if isinstance(layer, _BatchNorm):
        return layer.running_mean is not None
    return isinstance(layer, LINEAR) and _has_own_weight(layer)


def _has_own_weight(layer: nn.Module) -> bool:
    """Whether a layer has a weight that is not computed from others, as by weight norm."""
    own = {name for name, _ in layer.named_parameters(recurse=False)}
    return "weight" in own <= {"weight", "bias"}


def _ends(node: fx.Node, own: dict[fx.Node, nn.Module]) -> list[fx.Node] | None:
    """The layers that can undo a factor on this output; None if the output also goes elsewhere."""
    ends: list[fx.Node] = []
    for user in node.users:
        layer = own.get(user)
        if _can_divide(layer):
            ends.append(user)
        elif _lets_through(user, layer, node):
            beyond = _ends(user, own)
            if beyond is None:
                return None
            ends += beyond
        elif not _is_of_shape(user):
            return None
    return list(dict.fromkeys(ends)) or None


def _lets_through(user: fx.Node, layer: nn.Module | None, node: fx.Node) -> bool:
    if user.op == "call_module":
        return isinstance(layer, HOMOGENEOUS)
    known = FUNCTIONS if user.op == "call_function" else METHODS
    if not user.op.startswith("call_") or user.target not in known:
        return False
    # Not if the node is only an index or a shape in the call.
    return bool(user.args) and user.args[0] is node


def _is_of_shape(user: fx.Node) -> bool:
    if user.op == "call_method":
        return user.target in SHAPES
    return user.target is getattr and "shape" in user.args
