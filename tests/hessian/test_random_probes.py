"""Estimates from random probes against the exact trace, norm and density, and their errors."""

import numpy as np
import pytest
import torch
from hessian_systems import full_hessian, seeded, system
from scipy.special import ndtr

from flatlas.hessian import hessian_of
from flatlas.hessian.hutchinson import hutchinson
from flatlas.hessian.quadrature import quadrature


def test_two_standard_errors_cover_the_exact_values():
    """They should in 95 of 100 cases: at least 88, up to chance. Errors fall as 1/√probes."""
    matrix = full_hessian(*system("biases", 3, images=10))
    exact = torch.stack([matrix.trace(), matrix.norm()])

    def estimates(probes, seed):
        found = hutchinson(lambda v: v @ matrix, len(matrix), probes, seeded(seed))
        return torch.tensor([(one.value, one.standard_error) for one in found]).T

    values, errors = torch.stack([estimates(100, seed) for seed in range(100)], dim=1)
    assert (((values - exact).abs() <= 2 * errors).sum(0) >= 88).all()
    torch.testing.assert_close(estimates(1600, 100)[1], errors.mean(0) / 4, rtol=0.3, atol=0)


def test_the_estimates_of_a_diagonal_matrix_are_exact():
    diagonal = torch.arange(1.0, 9.0).double()
    trace, norm = hutchinson(lambda v: v * diagonal, 8, 5, seeded(0))
    assert (trace.value, trace.standard_error) == (36.0, 0.0)
    assert norm.value == pytest.approx(diagonal.norm().item(), rel=1e-14)
    assert norm.standard_error == 0.0


@pytest.mark.parametrize("name", ["biases", "convolutional"])
def test_probes_that_share_a_product_are_the_same_probes(name):
    """Ten probes by fours: the last product has two."""
    hessian = hessian_of(*system(name, 3))
    alone, shared = (
        hutchinson(hessian.product, hessian.size, 10, seeded(0), at_once) for at_once in (1, 4)
    )
    for one, other in zip(alone, shared, strict=True):
        assert other.value == pytest.approx(one.value, rel=1e-12)
        assert other.standard_error == pytest.approx(one.standard_error, rel=1e-10)


@pytest.fixture(scope="module")
def matrix():
    return full_hessian(*system("biases", 3))


def taken(matrix, probes, steps, seed=0):
    return quadrature(lambda v: v @ matrix, len(matrix), probes, steps, seeded(seed))


def test_the_first_moments_of_each_probe_are_exact(matrix):
    """z·Hⁿz of the signs that were drawn."""
    found = taken(matrix, probes=4, steps=6)
    random = seeded(0)
    for nodes, weights in zip(found.nodes, found.weights, strict=True):
        signs = 2 * torch.randint(2, (len(matrix),), generator=random).double() - 1
        assert weights.sum() == pytest.approx(1, rel=1e-12)
        for power in range(12):
            exact = (signs @ torch.linalg.matrix_power(matrix, power) @ signs) / len(matrix)
            assert weights @ nodes**power == pytest.approx(exact.item(), rel=1e-9)


def test_the_density_integrates_to_one_and_keeps_the_moments(matrix):
    """The kernel moves no mean, and adds the square of its width to the second moment."""
    found = taken(matrix, probes=3, steps=20)
    width = 0.02 * np.abs(found.nodes).max()
    grid = np.linspace(found.nodes.min() - 8 * width, found.nodes.max() + 8 * width, 2000)
    density = found.density(grid, width)
    assert np.trapezoid(density, grid) == pytest.approx(1, rel=1e-9)
    assert np.trapezoid(density * grid, grid) == pytest.approx(found.moment(1).value, rel=1e-9)
    second = found.moment(2).value + width**2
    assert np.trapezoid(density * grid**2, grid) == pytest.approx(second, rel=1e-9)


def test_the_density_is_that_of_all_eigenvalues(matrix):
    found = taken(matrix, probes=300, steps=40)
    eigenvalues = torch.linalg.eigvalsh(matrix).numpy()
    reach = np.abs(found.nodes).max()
    assert reach == pytest.approx(np.abs(eigenvalues).max(), rel=1e-9)
    # As shares of the eigenvalues below each point, beside the same of all of them.
    points = np.linspace(eigenvalues.min(), eigenvalues.max(), 40)
    width = 0.05 * reach
    seen, exact = (
        (weights * ndtr((points[:, None] - values) / width)).sum(1)
        for values, weights in (
            (found.nodes.ravel(), found.weights.ravel() / 300),
            (eigenvalues, 1 / len(eigenvalues)),
        )
    )
    assert np.abs(seen - exact).max() < 0.01
    share = found.share(-0.1 * reach, 0.1 * reach)
    inside = (np.abs(eigenvalues) <= 0.1 * reach).mean()
    assert abs(share.value - inside) < 3 * share.standard_error


def test_a_search_that_ends_early_has_found_all_eigenvalues():
    """A matrix of two eigenvalues has two nodes, with their shares as weights."""
    matrix = torch.diag(torch.tensor([3.0, 3.0, 3.0, -1.0], dtype=torch.float64))
    found = taken(matrix, probes=2, steps=4)
    for nodes, weights in zip(found.nodes, found.weights, strict=True):
        kept = weights > 1e-12
        share = dict(zip(nodes[kept].round(12), weights[kept], strict=True))
        assert share == pytest.approx({3.0: 0.75, -1.0: 0.25})
