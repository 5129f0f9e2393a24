"""The matrix product of stacks, by the faster of numpy and torch."""

import numpy as np
import torch
from torch import Tensor


def product(left: Tensor, right: Tensor) -> Tensor:
    """left @ right for every row of two stacks of matrices, without autograd.

    A stack of one matrix applies to every row of the other. On a CPU numpy multiplies: for the
    narrow matrices of small nets (784 x 30) its BLAS took half the time of torch's.
    """
    if left.is_cuda:
        return left @ right
    # No warning if a net diverges: its outcome records that.
    with np.errstate(over="ignore", invalid="ignore"):
        return torch.from_numpy(np.matmul(left.numpy(), right.numpy()))
