"""A copy of a model as it is measured: in one precision, with the derivatives of its function."""

from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DataParallel, DistributedDataParallel

from flatlas.errors import FlatlasError
from flatlas.models.copies import copied
from flatlas.models.tensors import described
from flatlas.nets.precision import in_precision, keep_eps


def prepared(model: nn.Module, device: torch.device, dtype: torch.dtype) -> nn.Module:
    """A copy in evaluation mode; none of its parameters requires a gradient."""
    made = copied(model, "model")
    # A model's own `train`, which `eval` calls, may return nothing.
    made.eval()
    made.requires_grad_(False)
    keep_eps(made)
    # A device without float64 can't even copy to float64 elsewhere, so tensors go to the CPU
    # first. A module's `to` would drop the imaginary part of complex numbers.
    made.cpu()._apply(lambda one: one.to(device, in_precision(one.dtype, dtype)))
    _keep_derivatives(made)
    return made


def unwrapped(model: Any) -> nn.Module:
    """The module inside the wrappers that compile or distribute it, which hide its derivatives."""
    while True:
        if isinstance(model, DataParallel | DistributedDataParallel):
            model = model.module
        # torch.compile's own class takes seconds to import.
        elif hasattr(model, "_orig_mod"):
            model = model._orig_mod
        else:
            break
    if not isinstance(model, nn.Module):
        raise FlatlasError(f"the model is {described(model)}. Allowed: an nn.Module.")
    return model


def _keep_derivatives(model: nn.Module) -> None:
    """Switch off what replaces gradients in a copied model; an error for what has no derivative."""
    for name, part in model.named_modules():
        # Backward hooks may replace gradients by tensors that are not gradients.
        part._backward_hooks.clear()
        part._backward_pre_hooks.clear()
        if isinstance(part, nn.Embedding | nn.EmbeddingBag) and part.max_norm is not None:
            raise FlatlasError(
                f"'{name}' has max_norm={part.max_norm}: it rescales its weights at each pass, "
                "without a derivative. Set max_norm to None once they are trained."
            )
