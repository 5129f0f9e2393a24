"""The compiled kernel in both types; without a compiler its tests are skipped."""

import shutil

import pytest
import torch

from flatlas.training.kernel import COMPILERS, find_kernel

FLOAT32, FLOAT64 = find_kernel(), find_kernel(torch.float64)
# Where there is a compiler, a kernel that can't be built is a failure.
needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, COMPILERS)), reason="there is no C compiler"
)
