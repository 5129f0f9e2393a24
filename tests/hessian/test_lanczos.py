"""Lanczos on matrices of known spectrum."""

import numpy as np
import pytest
import torch
from hessian_systems import rotated, seeded

from flatlas.hessian.lanczos import search


def of(matrix, count, block=1, **options):
    return search(lambda v: v @ matrix, len(matrix), count, seeded(1), block=block, **options)


blocks = pytest.mark.parametrize("block", [1, 2, 3])


@blocks
def test_a_known_spectrum(block):
    eigenvalues = np.concatenate([-(2.0 ** -np.arange(0, 20)), 3.0 * 0.8 ** np.arange(180)])
    found = of(rotated(eigenvalues), 25, block)
    assert found.converged
    assert found.iterations < 200
    np.testing.assert_allclose(found.top, np.sort(eigenvalues)[::-1][:25], rtol=1e-9)
    assert found.lowest == pytest.approx(-1, rel=1e-9)
    assert found.norm == pytest.approx(3, rel=1e-9)
    assert found.norm_residual == found.top_residuals[0].item()


def test_the_norm_is_that_of_the_lower_end_if_that_is_larger():
    found = of(rotated(np.linspace(-5, 2, 60)), 3)
    assert found.norm == pytest.approx(5, rel=1e-12)
    assert found.norm_residual == found.bottom_residuals[0].item()


@pytest.mark.parametrize(
    ("apart", "others", "norm"),
    [
        # An eigenvalue apart converges long before the crowded other end, which is larger here.
        (1.0, np.linspace(-1.01, -0.5, 199), 1.01),
        (-1.0, np.linspace(0.5, 1.01, 199), 1.01),
        (5.0, np.linspace(-1, 1, 199), 5.0),
    ],
)
def test_the_norm_alone_takes_only_the_steps_it_needs(apart, others, norm):
    matrix = rotated(np.append(others, apart))
    found = of(matrix, 10, norm_alone=True)
    assert found.converged
    assert found.norm == pytest.approx(norm, rel=1e-9)
    assert found.iterations < of(matrix, 10).iterations


def test_an_eigenvalue_is_within_its_residual_of_an_exact_one():
    """With too few steps the search has not converged, but the residual bounds the error."""
    eigenvalues = np.linspace(0, 1, 3000)
    found = search(lambda v: v * torch.as_tensor(eigenvalues), 3000, 1, seeded(1))
    assert not found.converged
    assert found.iterations == 20
    distances = abs(found.top.numpy()[:, None] - eigenvalues).min(1)
    assert (distances <= found.top_residuals.numpy() + 1e-14).all()
    assert found.top_residuals.max() > 1e-3


@blocks
@pytest.mark.parametrize(
    ("eigenvalues", "count"),
    [
        # The search ends in a subspace of five, and starts again in the kernel.
        ([4.0, 3.0, 2.0, 1.0, *[0.0] * 95], 12),
        # More than there are.
        ([3.0, 2.0, -1.0], 50),
        ([0.0] * 6, 6),
        ([1.0] * 6, 6),
    ],
    ids=["kernel", "few", "zero", "one"],
)
def test_a_small_subspace_has_all_eigenvalues(eigenvalues, count, block):
    found = of(rotated(eigenvalues), count, block)
    assert found.converged
    np.testing.assert_allclose(found.top, eigenvalues[:count], rtol=1e-13, atol=1e-13)


def test_a_block_of_two_finds_a_pair_that_shares_an_eigenvalue():
    eigenvalues = [5.0, 5.0, *4.0 * 0.8 ** np.arange(198)]
    found = of(rotated(eigenvalues), 6, block=2)
    assert found.converged
    assert found.iterations < 200
    np.testing.assert_allclose(found.top, eigenvalues[:6], rtol=1e-9)
