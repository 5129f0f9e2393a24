"""Estimates of trace and norm against the exact ones, and their standard errors' honesty."""

import pytest
import torch
from hessian_systems import full_hessian, system

from flatlas.hessian import hessian_of
from flatlas.hessian.hutchinson import hutchinson


def random(seed):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("name", ["two_hidden", "pooled"])
def test_intervals_cover_the_exact_values_as_often_as_they_say(name):
    """Two standard errors of 100 probes: 95 of 100 times, and at least 88 up to chance."""
    matrix = full_hessian(*system(name, 3, images=10))
    exact = torch.stack([matrix.trace(), matrix.norm()])
    hits = torch.zeros(2)
    for seed in range(100):
        estimates = hutchinson(lambda v: v @ matrix, len(matrix), 100, random(seed))
        values = torch.tensor([found.value for found in estimates])
        errors = torch.tensor([found.standard_error for found in estimates])
        hits += (values - exact).abs() <= 2 * errors
    assert (hits >= 88).all()


def test_standard_errors_fall_with_the_root_of_the_number():
    hessian = hessian_of(*system("two_hidden", 3))
    few = hutchinson(hessian.product, hessian.size, 100, random(0))
    many = hutchinson(hessian.product, hessian.size, 1600, random(1))
    for one, other in zip(few, many, strict=True):
        assert other.standard_error == pytest.approx(one.standard_error / 4, rel=0.3)


def test_a_diagonal_matrix_leaves_nothing_to_chance():
    diagonal = torch.arange(1.0, 9.0).double()
    trace, norm = hutchinson(lambda v: v * diagonal, 8, 5, random(0))
    assert (trace.value, trace.standard_error) == (36.0, 0.0)
    assert norm.value == pytest.approx(diagonal.norm().item(), rel=1e-14)
    assert norm.standard_error == 0.0


@pytest.mark.parametrize("name", ["two_hidden", "pooled"])
def test_probes_that_share_a_product_are_the_same_probes(name):
    """Ten probes by fours: the last product has two."""
    hessian = hessian_of(*system(name, 3))
    alone, shared = (
        hutchinson(hessian.product, hessian.size, 10, random(0), at_once) for at_once in (1, 4)
    )
    for one, other in zip(alone, shared, strict=True):
        assert other.value == pytest.approx(one.value, rel=1e-12)
        assert other.standard_error == pytest.approx(one.standard_error, rel=1e-10)
