"""The constraints of a layer near a solution: Fisher information, flatness, the cost."""

import numpy as np
import pytest
import torch
from scipy.optimize import brentq
from solutions import changed, losses_of, make_solution, one_ended, with_recording
from torch.func import grad, vmap

from flatlas.errors import FlatlasError
from flatlas.measures import measure
from flatlas.measures.constraints import CALIBRATED, PSI, elastic, landscape_dependent
from flatlas.nets.loss import sample_losses


@pytest.fixture(scope="module")
def solution():
    return with_recording(make_solution("two_hidden"), "fc2", steps=90)


@pytest.mark.parametrize("net", ["two_hidden", "biases", "convolutional"])
def test_fisher_information_is_that_of_per_sample_gradients(net):
    """⟨Σ_c p_c (∂ ln p_c / ∂w)²⟩ over images, with each class in turn as the label."""
    solution = make_solution(net)
    weight = solution.parameters["fc2.weight"]

    def log_probability(weight, image, label):
        moved = changed(solution, fc2=weight)
        logits = moved.net.forward(moved.parameters, image[None, None])
        return -sample_losses(logits, label[None, None]).squeeze()

    expected = torch.zeros_like(weight).flatten()
    p = solution.net.forward(solution.parameters, solution.inputs)[0].softmax(-1)
    for c in range(3):
        labels = torch.full((len(p),), c)
        slopes = vmap(grad(log_probability), (None, 0, 0))(weight, solution.inputs[0], labels)
        expected += (p[:, c, None] * slopes.flatten(1).square()).mean(0)
    found = elastic(solution, "fc2", weight.numel())
    in_place = torch.empty_like(expected)
    in_place[found.weights] = found.flatness**-2
    torch.testing.assert_close(in_place, expected, rtol=1e-9, atol=1e-14)
    assert ((1 / found.flatness).diff() <= 0).all(), "the largest information first"
    assert elastic(solution, "fc2", 5).weights.tolist() == found.weights[:5].tolist()


def test_measured_flatness_is_that_of_the_valley(solution):
    found = landscape_dependent(solution, "fc2", 20, "measured")
    options = {"layer": "fc2", "directions": 20, "factor": np.e, "profiles": []}
    valley = measure("valley", solution, options)["directions"]
    assert valley["converged"].all()
    np.testing.assert_allclose(found.flatness, valley["flatness"], rtol=1e-6)


def test_a_valley_with_one_end_is_twice_as_wide_as_its_one_side():
    solution = one_ended()
    weight = solution.parameters["fc2.weight"]

    def excess(shrink):
        grown = losses_of(changed(solution, fc2=weight * (1 - shrink))).mean()
        return (grown / losses_of(solution).mean()).log().item() - 1

    one_side = brentq(excess, 0, 1) * weight.norm().item()
    found = landscape_dependent(solution, "fc2", 1, "measured")
    assert found.flatness.tolist() == pytest.approx([2 * one_side], rel=1e-5)
    assert found.known.all()


def test_flatness_by_the_variance_goes_through_the_measured_ranks(solution):
    """F ∝ σ^(-2/ψ), where the mean of ln F over the calibration ranks is the measured one."""
    measured = landscape_dependent(solution, "fc2", 30, "measured")
    found = landscape_dependent(solution, "fc2", 30, "variance")
    centred = solution.trajectory - solution.trajectory.mean(0, dtype=float)
    sigma = torch.as_tensor(np.linalg.svd(centred, compute_uv=False)[:30] / np.sqrt(90))
    law = (found.flatness * sigma ** (2 / PSI)).log()
    torch.testing.assert_close(law, law[:1].expand(30), rtol=1e-5, atol=1e-5)
    ranks = torch.tensor([rank - 1 for rank in CALIBRATED if rank <= 30])
    off = (found.flatness / measured.flatness)[ranks].log()
    off = off[off.isfinite()]
    assert len(off) > 2 and off.mean().abs() < 1e-9 and off.abs().max() > 1e-3


def held(solution, method, count):
    if method == "ewc":
        return elastic(solution, "fc2", count)
    return landscape_dependent(solution, "fc2", count, "measured")


@pytest.mark.parametrize("method", ["ldc", "ewc"])
def test_a_step_minimizes_the_cost_and_the_distance(solution, method):
    """An implicit step from d ends where |x − d|² / 2α + λ Σ (x·p_i)² / F_i² is least."""
    found = held(solution, method, 12)
    strengths, counts, lr = torch.tensor([0.0, 3.0, 3e6]).double(), torch.tensor([0, 7, 12]), 0.2
    start = torch.randn(3, 54, generator=torch.Generator().manual_seed(0)).double()
    ended = start.clone()
    found.cost_step(strengths, counts, lr)(ended)
    identity = torch.eye(54).double()
    for row, (strength, count) in enumerate(zip(strengths, counts.tolist(), strict=True)):
        directions = found.components(identity).T[:count]  # p_i, a row each
        cost = directions.T @ torch.diag(found.flatness[:count] ** -2) @ directions
        least = torch.linalg.solve(identity + 2 * lr * strength * cost, start[row])
        torch.testing.assert_close(ended[row], least, rtol=1e-6, atol=1e-9)
    assert torch.equal(ended[0], start[0])


@pytest.mark.parametrize("method", ["ldc", "ewc"])
def test_components_are_projections_on_orthogonal_unit_directions(solution, method):
    found = held(solution, method, 10)
    directions = found.components(torch.eye(54).double()).T
    torch.testing.assert_close(
        directions @ directions.T, torch.eye(10).double(), rtol=0, atol=1e-12
    )
    some = torch.randn(4, 54, generator=torch.Generator().manual_seed(1)).double()
    torch.testing.assert_close(found.components(some), some @ directions.T)


def test_more_directions_than_weights_are_refused(solution):
    with pytest.raises(FlatlasError, match=r"directions is 55, but 'fc2' has 54 weights"):
        elastic(solution, "fc2", 55)


def test_a_flat_landscape_gives_the_law_no_factor(solution):
    flat = changed(solution, fc3=torch.zeros_like(solution.parameters["fc3.weight"]))
    assert torch.isinf(landscape_dependent(flat, "fc2", 5, "measured").flatness).all()
    with pytest.raises(FlatlasError, match="no valley ends along the directions"):
        landscape_dependent(flat, "fc2", 5, "variance")
