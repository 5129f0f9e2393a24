"""Handwritten digits and their kernel matrix, which GPy was also given."""

from functools import cache

import pytest
import torch
from sklearn.datasets import load_digits

from flatlas.gaussian_process.kernels import ArcCosineKernel


@pytest.fixture(scope="session")
def digits():
    """The first digits: pixels, whether each is at least 5, and the kernel matrix.

    The kernel is that of two hidden layers, σ_w² = 2, σ_b² = 1.
    """
    images, digits = load_digits(return_X_y=True)

    @cache
    def first(count):
        pixels = torch.tensor(images[:count] / 16)
        labels = torch.tensor(digits[:count] >= 5).long()
        return pixels, labels, ArcCosineKernel(2, 2.0, 1.0)(pixels).to_dense()

    return first
