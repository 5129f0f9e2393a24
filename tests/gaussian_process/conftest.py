"""Handwritten digits, and their kernel, which GPy was given too."""

import pytest
import torch
from sklearn.datasets import load_digits

from flatlas.gaussian_process.kernels import ArcCosineKernel


def first_digits(count):
    """Pixels, whether the digit is at least 5, and K of two hidden layers, σ_w² = 2, σ_b² = 1."""
    images, digits = load_digits(return_X_y=True)
    pixels = torch.tensor(images[:count] / 16)
    return pixels, torch.tensor(digits[:count] >= 5).long(), ArcCosineKernel(2, 2.0, 1.0)(pixels)


@pytest.fixture(scope="session")
def digits():
    """The function that gives images, labels and kernel matrix of the first digits."""

    def given(count):
        pixels, labels, matrix = first_digits(count)
        return pixels, labels, matrix.to_dense()

    return given
