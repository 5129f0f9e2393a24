"""Attention by operations that can be differentiated in every way."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch.backends import mha
from torch.nn.attention import SDPBackend, sdpa_kernel


@contextmanager
def differentiable_attention() -> Iterator[None]:
    """Within it, torch takes none of its fused kernels, which have no forward-mode derivative."""
    enabled = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        mha.set_fastpath_enabled(enabled)
