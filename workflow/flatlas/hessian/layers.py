"""Layers computed by operations that can be differentiated in every way."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

import torch
import torch.utils.checkpoint
from torch import Tensor
from torch.nn import functional

from flatlas.hessian import embeddings
from flatlas.hessian.attention import differentiable_attention


@contextmanager
def differentiable_layers() -> Iterator[None]:
    """Attention, embeddings, weight norm, checkpoints and hardsigmoid with correct derivatives.

    torch's fused weight norm has a wrong second derivative, a reentrant checkpoint and hardsigmoid
    have none.
    """
    with differentiable_attention(), ExitStack() as kept:
        # An ordinary import gives the function of the same name in nn.utils, not this module.
        for owner in (torch, import_module("torch.nn.utils.weight_norm")):
            set_until_end(kept, owner, "_weight_norm", _weight_norm)
        set_until_end(kept, torch.utils.checkpoint, "CheckpointFunction", _Checkpoint)
        set_until_end(kept, functional, "hardsigmoid", _hardsigmoid)
        # Their callers in nn.functional may have been imported by name.
        set_until_end(kept, torch, "embedding", embeddings.embedding)
        set_until_end(kept, torch, "embedding_bag", embeddings.embedding_bag)
        yield


def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    return v * (g / torch.norm_except_dim(v, 2, dim))


def _hardsigmoid(given: Tensor, inplace: bool = False) -> Tensor:
    return functional.relu6(given + 3) / 6


class _Checkpoint:
    """A non-reentrant checkpoint, in place of torch's reentrant one."""

    @staticmethod
    def apply(run: Callable[..., Any], preserve_rng_state: bool, *given: Any) -> Any:
        return torch.utils.checkpoint.checkpoint(
            run, *given, use_reentrant=False, preserve_rng_state=preserve_rng_state
        )


def set_until_end(kept: ExitStack, owner: object, name: str, value: object) -> None:
    """Set an attribute until the end of the stack."""
    kept.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, value)
