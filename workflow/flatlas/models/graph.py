"""The graph that torch records of a computation: its leaves, and the functions of its gradients."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction

from flatlas.errors import FlatlasError
from flatlas.models.second_order import again, gradient

# The relative accuracy of two ways to compute a gradient, also in float32.
SAME = 1e-3


def refuse_constant_gradients(ends: Sequence[Tensor], by: Sequence[Tensor]) -> None:
    """Raise an error if torch has no record of how a function or a hook computes a gradient.

    torch would take that gradient for a constant, and leave out its derivatives. The gradient of a
    function is linear in the gradient that it receives: it is constant only if it is 0. A hook that
    computes only a part of the gradient without a record makes the whole gradient nonlinear.
    """
    seen: list[tuple[str, Any, Any]] = []
    hooks = [
        node.register_hook(lambda given, got, node=node: seen.append((node.name(), given, got)))
        for node in _nodes(ends)
        # All other nodes are torch's.
        if isinstance(node, BackwardCFunction)
    ]
    # Not ones: the slopes of a softmax add up to 0.
    along = [_uneven(one).requires_grad_() for one in ends]
    try:
        found = gradient(ends, by, along)
    finally:
        for hook in hooks:
            hook.remove()
    for name, given, got in seen:
        if any(_is_constant(slope, got) for slope in given if slope is not None):
            raise _refusal(
                f"it has no record of how {name}, of an autograd.Function, computes a gradient"
            )
    if not _is_linear(found, ends, along, least_precision(ends)):
        raise _refusal(
            "a hook of a tensor computes a gradient without a record, or changes it other than "
            "linearly, as by clipping"
        )


def reaches(parameters: Sequence[Tensor], computed: Iterable[Any]) -> bool:
    """Whether anything `computed` depends on any of these parameters; its graph is kept."""
    ends = [one for one in computed if isinstance(one, Tensor) and one.requires_grad]
    parameters = [one for one in parameters if one.requires_grad]
    if not parameters or not ends:
        return False
    along = [torch.zeros_like(one) for one in ends]
    found = torch.autograd.grad(ends, parameters, along, retain_graph=True, allow_unused=True)
    return any(one is not None for one in found)


def unreached(names: Iterable[str]) -> FlatlasError:
    """The error for a loss that depends on none of the parameters of these names."""
    return FlatlasError(
        f"no chosen parameter reaches the loss: {', '.join(names)}. Choose those that the model's "
        "output is computed with, and let model and loss compute without torch.no_grad and detach."
    )


def roots(ends: Sequence[Tensor]) -> set[int]:
    """The ids of all leaves on which the `ends` of a computation depend."""
    return {id(node.variable) for node in _nodes(ends) if hasattr(node, "variable")}


def _nodes(ends: Sequence[Tensor]) -> Iterator[Any]:
    """All nodes of a computation's graph, from its ends."""
    seen, left = set(), [one.grad_fn for one in ends]
    while left:
        node = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        left += [further for further, _ in node.next_functions]
        yield node


def _uneven(one: Tensor) -> Tensor:
    """Numbers from 1 to 2 in the same shape."""
    return torch.linspace(1, 2, one.numel()).to(one).view_as(one)


def least_precision(ends: Sequence[Tensor]) -> float:
    """The eps of the least precise numbers in a computation, as of a part in half precision."""
    dtypes = {one.dtype for node in _nodes(ends) for one in node._input_metadata}
    dtypes |= {one.dtype for one in ends}
    return max(torch.finfo(one).eps for one in dtypes if one.is_floating_point or one.is_complex)


def _is_linear(
    found: Sequence[Tensor], ends: Sequence[Tensor], along: Sequence[Tensor], eps: float
) -> bool:
    """Whether a gradient is the product of its derivatives by `along` with `along`, as recorded.

    True if the gradient is only round-off, or not finite, which has its own error.
    """
    parts = [(one * _uneven(one)).real for one in found]
    total = torch.stack([one.sum() for one in parts]).sum()
    size, of_ends = (sum(float(one.detach().abs().sum()) for one in some) for some in (parts, ends))
    if total.requires_grad:
        by = again([total], along, [torch.ones_like(total)])
        # The derivative by a complex number is conjugated.
        pairs = zip(by, along, strict=True)
        total = total - sum((one * each.conj()).real.sum() for one, each in pairs)
    rounded = eps**0.5 * (1 + of_ends + size)
    return not total.isfinite() or total.abs().item() <= max(SAME * size, rounded)


def _refusal(why: str) -> FlatlasError:
    return FlatlasError(
        f"torch can't compute a second derivative of the model: {why}. Compute the gradient by "
        "torch's operations on saved tensors, without no_grad, detach or once_differentiable, and "
        "with create_graph=True, or take measures without second derivatives, such as "
        "adaptive_sharpness."
    )


def _is_constant(slope: Tensor, got: Sequence[Tensor | None]) -> bool:
    """Whether the slope does not depend on the gradients that the function received."""
    varying = [one for one in got if one is not None and one.requires_grad]
    if not varying or not slope.any():
        return False
    if not slope.requires_grad:
        return True
    found = torch.autograd.grad(
        slope, varying, torch.ones_like(slope), retain_graph=True, allow_unused=True
    )
    return all(one is None for one in found)
