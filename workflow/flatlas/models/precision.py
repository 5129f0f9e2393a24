"""How torch computes while a model is measured, which a training may have chosen otherwise."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import nn


@contextmanager
def full_precision() -> Iterator[None]:
    """Compute products of float32 numbers in float32, and use cuDNN's deterministic algorithms.

    On a GPU, convolutions are in TF32 by default, with errors of 1e-3, and a training may have
    chosen that for all products. Since torch 2.9 there are two ways to choose; one can't be read
    after the other has been used.
    """
    cudnn = torch.backends.cudnn
    with ExitStack() as kept:
        try:
            before = torch.get_float32_matmul_precision()
            kept.callback(torch.set_float32_matmul_precision, before)
            torch.set_float32_matmul_precision("highest")
        except RuntimeError:
            _set(kept, torch.backends.cuda.matmul, "fp32_precision", "ieee")
        try:
            _set(kept, cudnn, "allow_tf32", False)
        except RuntimeError:
            for products in ("conv", "rnn"):
                _set(kept, getattr(cudnn, products), "fp32_precision", "ieee")
        _set(kept, cudnn, "deterministic", True)
        yield


@contextmanager
def without_cudnn(model: nn.Module) -> Iterator[None]:
    """For a model with recurrent layers, of which cuDNN has no second derivatives."""
    with ExitStack() as kept:
        if any(isinstance(part, nn.RNNBase) for part in model.modules()):
            _set(kept, torch.backends.cudnn, "enabled", False)
        yield


def _set(kept: ExitStack, owner: object, name: str, value: object) -> None:
    """Until the end of the stack."""
    kept.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, value)
