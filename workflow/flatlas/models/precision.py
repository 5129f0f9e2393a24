"""torch's settings while a model is measured; a training may have chosen others."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext

import torch
from torch import nn

from flatlas.hessian.attention import without_fast_path
from flatlas.hessian.layers import set_until_end


@contextmanager
def full_precision() -> Iterator[None]:
    """Compute products of float32 numbers in float32, and use cuDNN's deterministic algorithms.

    On a GPU, convolutions are in TF32 by default, with errors of 1e-3, and a training may have
    chosen that for all products. Since torch 2.9 each kind of product has its own precision.
    """
    cudnn, cuda, mkldnn = torch.backends.cudnn, torch.backends.cuda, torch.backends.mkldnn
    with ExitStack() as kept:
        if hasattr(cuda.matmul, "fp32_precision"):
            of_kinds = [getattr(cudnn, kind) for kind in ("conv", "rnn")]
            of_cores = [getattr(mkldnn, kind) for kind in ("matmul", "conv", "rnn")]
            for products in (cuda.matmul, *of_kinds, *of_cores):
                set_until_end(kept, products, "fp32_precision", "ieee")
        else:
            kept.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
            torch.set_float32_matmul_precision("highest")
            set_until_end(kept, cudnn, "allow_tf32", False)
        set_until_end(kept, cudnn, "deterministic", True)
        yield


@contextmanager
def as_written() -> Iterator[None]:
    """Compute a model as it is written: not compiled, and by one path with and without gradients.

    Compiled code has no second derivative. The caller's autocast would reduce the precision.
    """
    with torch.inference_mode(False), without_fast_path(), ExitStack() as kept:
        accelerator = torch.accelerator.current_accelerator()
        for device in ("cpu", *([accelerator.type] if accelerator else ())):
            kept.enter_context(torch.autocast(device, enabled=False))
        # Importing the compiler takes seconds; nothing is compiled if it has not been.
        if "torch._dynamo" in sys.modules:
            kept.enter_context(torch.compiler.set_stance("force_eager"))
        yield


@contextmanager
def by_default(device: torch.device, dtype: torch.dtype) -> Iterator[None]:
    """The device and the floating-point type of tensors that are made without naming them."""
    before = torch.get_default_dtype()
    # Under a default device each call of torch takes longer.
    with nullcontext() if torch.get_default_device() == device else device:
        torch.set_default_dtype(dtype)
        try:
            yield
        finally:
            torch.set_default_dtype(before)


@contextmanager
def without_cudnn(model: nn.Module) -> Iterator[None]:
    """Disable cuDNN for a model with recurrent layers, whose second derivatives it lacks."""
    with ExitStack() as kept:
        if any(isinstance(part, nn.RNNBase) for part in model.modules()):
            set_until_end(kept, torch.backends.cudnn, "enabled", False)
        yield
