"""What holds a layer near a solution: Fisher information, flatness, the cost."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from recordings import with_recording
from scipy.optimize import brentq
from torch.func import grad, vmap

from flatlas.errors import FlatlasError
from flatlas.measures import measure
from flatlas.measures.constraints import CALIBRATED, PSI, elastic, landscape_dependent
from flatlas.nets.loss import sample_losses


def recorded(make_solution, net="two_hidden", **options):
    return with_recording(make_solution(net, **options), "fc2", steps=90)


@pytest.mark.parametrize("net", ["two_hidden", "biases", "convolutional"])
def test_fisher_information_is_that_of_per_sample_gradients(make_solution, net):
    """⟨Σ_c p_c (∂ ln p_c / ∂w)²⟩ over images, each class taken in turn as the label."""
    solution = make_solution(net)
    name = "fc2.weight"

    def log_probability(weight, image, label):
        parameters = {**solution.parameters, name: weight}
        logits = solution.net.forward(parameters, image[None, None])
        return -sample_losses(logits, label[None, None]).squeeze()

    images, weight = solution.inputs[0], solution.parameters[name]
    expected = torch.zeros_like(weight).flatten()
    p = solution.net.forward(solution.parameters, solution.inputs)[0].softmax(-1)
    for c in range(3):
        labels = torch.full((len(images),), c)
        slopes = vmap(grad(log_probability), (None, 0, 0))(weight, images, labels)
        expected += (p[:, c, None] * slopes.flatten(1).square()).mean(0)
    found = elastic(solution, "fc2", weight.numel())
    in_place = torch.empty_like(expected)
    in_place[found.weights] = found.flatness**-2
    torch.testing.assert_close(in_place, expected, rtol=1e-9, atol=1e-14)
    assert ((1 / found.flatness).diff() <= 0).all(), "the largest information first"
    few = elastic(solution, "fc2", 5)
    assert few.weights.tolist() == found.weights[:5].tolist()


def test_measured_flatness_is_that_of_the_valley(make_solution):
    solution = recorded(make_solution)
    found = landscape_dependent(solution, "fc2", 20, "measured")
    options = {"layer": "fc2", "directions": 20, "factor": np.e, "profiles": []}
    valley = measure("valley", solution, options)["directions"]
    assert valley["converged"].all()
    np.testing.assert_allclose(found.flatness, valley["flatness"], rtol=1e-6)


def test_a_valley_with_one_end_is_twice_its_one_side(make_solution):
    """Larger weights of the last layer make right outputs more right: no end on that side."""
    made = make_solution("one_hidden")
    weight = made.parameters["fc2.weight"]
    activity = made.into("fc2", made.inputs)
    right = (activity @ weight).argmax(-1)
    drift = weight.flatten().numpy() * np.linspace(0.9, 1, 20)[:, np.newaxis]
    solution = replace(made, labels=right, trajectory=drift.astype(np.float32))

    def excess(shrink):
        losses = sample_losses(activity @ weight * (1 - shrink), right).mean()
        return (losses / sample_losses(activity @ weight, right).mean()).log().item() - 1

    one_side = brentq(excess, 0, 1) * weight.norm().item()
    found = landscape_dependent(solution, "fc2", 1, "measured")
    assert found.flatness.tolist() == pytest.approx([2 * one_side], rel=1e-5)
    assert found.known.all()


def test_flatness_by_the_variance_goes_through_the_measured_ranks(make_solution):
    """F ∝ σ^(-2/ψ); its logarithm is right in the mean over the ranks it is calibrated on."""
    solution = recorded(make_solution)
    measured = landscape_dependent(solution, "fc2", 30, "measured")
    found = landscape_dependent(solution, "fc2", 30, "variance")
    sigma = torch.as_tensor(
        np.linalg.svd(centred(solution.trajectory), compute_uv=False)[:30] / np.sqrt(90)
    )
    law = (found.flatness * sigma ** (2 / PSI)).log()
    torch.testing.assert_close(law, law[:1].expand(30), rtol=1e-5, atol=1e-5)
    ranks = torch.tensor([rank - 1 for rank in CALIBRATED if rank <= 30])
    off = (found.flatness / measured.flatness)[ranks].log()
    off = off[off.isfinite()]
    assert len(off) > 2 and off.mean().abs() < 1e-9 and off.abs().max() > 1e-3


def centred(trajectory):
    return trajectory.astype(float) - trajectory.astype(float).mean(0)


@pytest.mark.parametrize("method", ["ldc", "ewc"])
def test_a_step_minimizes_the_cost_and_the_way(make_solution, method):
    """An implicit step from d ends where |x − d|² / 2α + λ Σ (x·p_i)² / F_i² is least."""
    solution = recorded(make_solution)
    found = (
        landscape_dependent(solution, "fc2", 12, "measured")
        if method == "ldc"
        else elastic(solution, "fc2", 12)
    )
    strengths, counts, lr = torch.tensor([0.0, 3.0, 3e6]).double(), torch.tensor([0, 7, 12]), 0.2
    weights = solution.parameters["fc2.weight"].numel()
    start = torch.randn(3, weights, generator=torch.Generator().manual_seed(0)).double()
    ended = start.clone()
    found.tether(strengths, counts, lr)(ended)
    identity = torch.eye(weights).double()
    for row, (strength, count) in enumerate(zip(strengths, counts.tolist(), strict=True)):
        directions = found.components(identity).T[:count]  # p_i, a row each
        cost = directions.T @ torch.diag(found.flatness[:count] ** -2) @ directions
        least = torch.linalg.solve(identity + 2 * lr * strength * cost, start[row])
        torch.testing.assert_close(ended[row], least, rtol=1e-6, atol=1e-9)
    assert torch.equal(ended[0], start[0])


@pytest.mark.parametrize("method", ["ldc", "ewc"])
def test_components_along_unit_directions(make_solution, method):
    solution = recorded(make_solution)
    found = (
        landscape_dependent(solution, "fc2", 10, "variance")
        if method == "ldc"
        else elastic(solution, "fc2", 10)
    )
    ways = found.components(torch.eye(solution.parameters["fc2.weight"].numel()).double()).T
    torch.testing.assert_close(ways @ ways.T, torch.eye(10).double(), rtol=0, atol=1e-12)
    some = torch.randn(4, ways.shape[1], generator=torch.Generator().manual_seed(1)).double()
    torch.testing.assert_close(found.components(some), some @ ways.T)


def test_more_directions_than_there_are(make_solution):
    solution = recorded(make_solution)
    with pytest.raises(FlatlasError, match=r"directions is 55, but 'fc2' has 54 weights"):
        elastic(solution, "fc2", 55)
    with pytest.raises(FlatlasError, match="directions is 55, but the trajectory of 'fc2' has 54"):
        landscape_dependent(solution, "fc2", 55, "measured")


def test_a_flat_landscape_gives_the_law_no_factor(make_solution):
    solution = recorded(make_solution)
    dead = {
        **solution.parameters,
        "fc3.weight": torch.zeros_like(solution.parameters["fc3.weight"]),
    }
    flat = replace(solution, parameters=dead)
    assert torch.isinf(landscape_dependent(flat, "fc2", 5, "measured").flatness).all()
    with pytest.raises(FlatlasError, match="no valley ends along the directions"):
        landscape_dependent(flat, "fc2", 5, "variance")
