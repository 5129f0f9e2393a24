"""Attention computed by operations that can be differentiated in every way."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch.backends import mha
from torch.nn.attention import SDPBackend, sdpa_kernel


@contextmanager
def differentiable_attention() -> Iterator[None]:
    """Prevent torch from using its fused kernels, which lack derivatives."""
    with without_fast_path(), sdpa_kernel(SDPBackend.MATH):
        yield


@contextmanager
def without_fast_path() -> Iterator[None]:
    """Compute encoder layers without a gradient like those with one.

    Otherwise their output differs if some inputs are padding: it is 0 there.
    """
    enabled = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        mha.set_fastpath_enabled(enabled)
