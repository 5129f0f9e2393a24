"""Kernel matrices and signs of which no probability can be computed."""

import numpy as np
import pytest
import torch

from flatlas.errors import FlatlasError
from flatlas.gaussian_process.expectation_propagation import expectation_propagation
from flatlas.gaussian_process.orthant import orthant_probability

KERNEL = torch.tensor([[1.0, 0.5, 0.2], [0.5, 2.0, 0.1], [0.2, 0.1, 1.0]])
SIGNS = torch.tensor([[1.0, -1.0, 1.0]])

WRONG = {
    "labels 0 and 1": (KERNEL, (SIGNS + 1) / 2, r"2 \* labels - 1"),
    "NaN among signs": (KERNEL, SIGNS * torch.nan, "-1 and 1"),
    "too few signs": (KERNEL, SIGNS[:, :2], r"signs \((1, 2|2,)\)"),
    "no square": (KERNEL[:2], SIGNS, r"\(2, 3\)"),
    "a stack": (KERNEL.expand(3, 3, 3), SIGNS, r"\(3, 3, 3\)"),
    "no variables": (KERNEL[:0, :0], SIGNS[:, :0], "at least 1"),
    "half a matrix": (KERNEL.tril(), SIGNS, r"not symmetric: .* by up to 0\.35"),
    "a variance of 0": (KERNEL.diag().diag() * torch.tensor([1, 0, 1]), SIGNS, "not positive"),
    "NaN among entries": (KERNEL * torch.nan, SIGNS, "NaN"),
}


@pytest.mark.parametrize(("kernel", "signs", "said"), WRONG.values(), ids=WRONG)
def test_both_estimates_refuse_them(kernel, signs, said):
    with pytest.raises(FlatlasError, match=said):
        expectation_propagation(kernel, signs)
    with pytest.raises(FlatlasError, match=said):
        orthant_probability(kernel.numpy(), signs[0].numpy(), 10, np.random.default_rng(0))


def test_each_has_its_own_arrays():
    with pytest.raises(FlatlasError, match=r"covariance .* ndarray\. Allowed: torch\.Tensor"):
        expectation_propagation(KERNEL.numpy(), SIGNS)
    with pytest.raises(FlatlasError, match=r"signs .* Tensor\. Allowed: numpy\.ndarray"):
        orthant_probability(KERNEL.numpy(), SIGNS[0], 10, np.random.default_rng(0))


def test_a_single_function_is_a_row():
    with pytest.raises(FlatlasError, match=r"\(functions, n\)"):
        expectation_propagation(KERNEL, SIGNS[0])


def test_round_off_of_float32_is_no_asymmetry():
    generator = torch.Generator().manual_seed(0)
    kernel = torch.rand(400, 30, generator=generator)
    kernel = kernel @ kernel.T + torch.eye(400)
    kernel[7, 9] *= 1 + 1e-6
    signs = torch.ones(1, 400)
    assert expectation_propagation(kernel, signs)[0].converged
    orthant_probability(kernel[:10, :10].numpy(), np.ones(10), 10, np.random.default_rng(0))


@pytest.mark.parametrize("samples", [0, 1])
def test_a_standard_error_needs_two_samples(samples):
    with pytest.raises(FlatlasError, match=f"samples is {samples}.*at least 2"):
        orthant_probability(KERNEL.numpy(), np.ones(3), samples, np.random.default_rng(0))
