"""Derivatives that can be differentiated again, and second derivatives."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from flatlas.errors import FlatlasError
from flatlas.hessian.attention import differentiable_attention
from flatlas.models.precision import differentiable_layers, without_cudnn


@contextmanager
def twice_differentiable(model: nn.Module) -> Iterator[None]:
    """Compute all layers by operations that have second derivatives."""
    with (
        torch.enable_grad(),
        differentiable_attention(),
        differentiable_layers(),
        without_cudnn(model),
    ):
        yield


def gradient(
    of: Tensor | Sequence[Tensor], by: Sequence[Tensor], along: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """A gradient that can be differentiated again; of several tensors, a product with `along`."""
    found: tuple[Tensor, ...] = torch.autograd.grad(
        of, by, along, create_graph=True, materialize_grads=True
    )
    return found


def again(
    of: Sequence[Tensor], by: Sequence[Tensor], along: Sequence[Tensor], keep: bool = True
) -> tuple[Tensor, ...]:
    """A product with a Jacobian from the left; `keep` keeps the graph for the next product."""
    try:
        found: tuple[Tensor, ...] = torch.autograd.grad(
            of, by, along, retain_graph=keep, materialize_grads=True
        )
    except torch.OutOfMemoryError:
        raise
    except (NotImplementedError, RuntimeError) as error:
        raise FlatlasError(
            f"torch can't compute a second derivative of the model: {error}. Take measures without "
            "second derivatives, such as adaptive_sharpness, or compute that part by operations "
            "that have one."
        ) from error
    return found
