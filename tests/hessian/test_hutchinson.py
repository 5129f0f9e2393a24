"""Estimates of trace and norm against the exact ones, and the coverage of their errors."""

import pytest
import torch
from hessian_systems import full_hessian, system

from flatlas.hessian import hessian_of
from flatlas.hessian.hutchinson import hutchinson


def random(seed):
    return torch.Generator().manual_seed(seed)


def test_two_standard_errors_cover_the_exact_values():
    """95 of 100 times, and at least 88 up to chance; the errors fall with the root of probes."""
    matrix = full_hessian(*system("biases", 3, images=10))
    exact = torch.stack([matrix.trace(), matrix.norm()])

    def estimates(probes, seed):
        found = hutchinson(lambda v: v @ matrix, len(matrix), probes, random(seed))
        return torch.tensor([(one.value, one.standard_error) for one in found]).T

    values, errors = torch.stack([estimates(100, seed) for seed in range(100)], dim=1)
    assert (((values - exact).abs() <= 2 * errors).sum(0) >= 88).all()
    torch.testing.assert_close(estimates(1600, 100)[1], errors.mean(0) / 4, rtol=0.3, atol=0)


def test_the_estimates_of_a_diagonal_matrix_are_exact():
    diagonal = torch.arange(1.0, 9.0).double()
    trace, norm = hutchinson(lambda v: v * diagonal, 8, 5, random(0))
    assert (trace.value, trace.standard_error) == (36.0, 0.0)
    assert norm.value == pytest.approx(diagonal.norm().item(), rel=1e-14)
    assert norm.standard_error == 0.0


@pytest.mark.parametrize("name", ["biases", "convolutional"])
def test_probes_that_share_a_product_are_the_same_probes(name):
    """Ten probes by fours: the last product has two."""
    hessian = hessian_of(*system(name, 3))
    alone, shared = (
        hutchinson(hessian.product, hessian.size, 10, random(0), at_once) for at_once in (1, 4)
    )
    for one, other in zip(alone, shared, strict=True):
        assert other.value == pytest.approx(one.value, rel=1e-12)
        assert other.standard_error == pytest.approx(one.standard_error, rel=1e-10)
