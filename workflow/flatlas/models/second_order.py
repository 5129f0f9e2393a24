"""Derivatives that can be differentiated again, and second derivatives."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from flatlas.errors import FlatlasError
from flatlas.hessian.layers import differentiable_layers
from flatlas.models.precision import without_cudnn

WITHOUT = (
    "torch can't compute a second derivative of the model: {}. Take measures without second "
    "derivatives, such as adaptive_sharpness, or compute that part by operations that have one."
)


@contextmanager
def twice_differentiable(model: nn.Module) -> Iterator[None]:
    """Compute all layers by operations that have second derivatives."""
    with torch.enable_grad(), differentiable_layers(), without_cudnn(model):
        yield


def slope(of: Tensor, by: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """A gradient alone."""
    with _explained(
        "torch can't compute the gradient of the loss: {}. Compute that part of the model by "
        "operations that have a derivative, and keep the graph of a gradient that it takes itself."
    ):
        found: tuple[Tensor, ...] = torch.autograd.grad(of, by, materialize_grads=True)
    return found


def gradient(
    of: Tensor | Sequence[Tensor], by: Sequence[Tensor], along: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """A gradient that can be differentiated again; of several tensors, a product with `along`."""
    with _explained(WITHOUT):
        found: tuple[Tensor, ...] = torch.autograd.grad(
            of, by, along, create_graph=True, materialize_grads=True
        )
    return found


def again(
    of: Sequence[Tensor], by: Sequence[Tensor], along: Sequence[Tensor], keep: bool = True
) -> tuple[Tensor, ...]:
    """A product with a Jacobian from the left; `keep` keeps the graph for the next product."""
    # A part of a vector may begin at an odd place in memory, and then has no complex view.
    along = [one.clone() for one in along]
    with _explained(WITHOUT):
        found: tuple[Tensor, ...] = torch.autograd.grad(
            of, by, along, retain_graph=keep, materialize_grads=True
        )
    return found


@contextmanager
def _explained(text: str) -> Iterator[None]:
    """Raise an error with this text, which has a place for torch's own, in place of torch's."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except (NotImplementedError, RuntimeError) as error:
        raise FlatlasError(text.format(str(error).rstrip("."))) from error
