"""The layer's Hessian and Fisher matrix against automatic differentiation."""

import pytest
import torch

from flatlas.measures import curvature
from flatlas.nets.loss import sample_losses

LAYERS = [
    ("one_hidden", "fc1"),
    ("one_hidden", "fc2"),
    ("two_hidden", "fc2"),
    ("biases", "fc2"),
    ("deep", "fc1"),
    ("deep", "fc3"),
    ("deep", "fc5"),
    ("convolutional", "fc1"),
    ("convolutional", "fc3"),
]


def losses_of_weight(solution, layer):
    """The losses of all images as a function of the layer's flattened weights."""
    name = f"{layer}.weight"
    shape = solution.parameters[name].shape

    def losses(flat):
        parameters = {**solution.parameters, name: flat.reshape(shape)}
        logits = solution.net.forward(parameters, solution.inputs)
        return sample_losses(logits, solution.labels).squeeze(0)

    return losses, solution.parameters[name].flatten()


def assert_equal_matrices(found, expected):
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12 * expected.abs().max().item())


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_hessian(make_solution, net, layer, outputs):
    solution = make_solution(net, outputs)
    losses, weight = losses_of_weight(solution, layer)
    expected = torch.autograd.functional.hessian(lambda w: losses(w).mean(), weight)
    activity = solution.into(layer, solution.inputs)
    assert_equal_matrices(curvature.hessian(solution, layer, activity), expected)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_fisher(make_solution, net, layer, outputs):
    solution = make_solution(net, outputs)
    losses, weight = losses_of_weight(solution, layer)
    gradients = torch.autograd.functional.jacobian(losses, weight)
    activity = solution.into(layer, solution.inputs)
    assert_equal_matrices(
        curvature.fisher(solution, layer, activity), gradients.T @ gradients / len(gradients)
    )


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_gradient(make_solution, net, layer, outputs):
    solution = make_solution(net, outputs)
    losses, weight = losses_of_weight(solution, layer)
    expected = torch.autograd.functional.jacobian(lambda w: losses(w).mean(), weight)
    activity = solution.into(layer, solution.inputs)
    assert_equal_matrices(curvature.gradient(solution, layer, activity), expected)


def test_blocks_of_images_change_nothing(make_solution, monkeypatch):
    solution = make_solution("biases")
    activity = solution.into("fc2", solution.inputs)
    whole = curvature.hessian(solution, "fc2", activity)
    monkeypatch.setattr(curvature, "NUMBERS", 7 * (36 + 15))
    assert_equal_matrices(curvature.hessian(solution, "fc2", activity), whole)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("matrix", ["hessian", "fisher"])
@pytest.mark.parametrize("layer", ["fc1", "fc2", "fc3"])
def test_of_a_wide_layer_the_matrix_is_the_same(make_solution, monkeypatch, layer, matrix, outputs):
    """Every layer is one, of which a few images at a time would be taken."""
    solution = make_solution("biases", outputs)
    activity = solution.into(layer, solution.inputs)
    expected = getattr(curvature, matrix)(solution, layer, activity)
    monkeypatch.setattr(curvature, "FEW", curvature.NUMBERS)
    monkeypatch.setattr(curvature, "IMAGES", 15)
    found = getattr(curvature, matrix)(solution, layer, activity)
    assert_equal_matrices(found, expected)


def test_a_net_that_is_sure_keeps_its_small_curvature(make_solution):
    """With logits z = (x, 0) the curvature is p (1 − p), here about e^-60, far below round-off."""
    solution = make_solution("one_hidden", outputs=2, images=1)
    weight = torch.zeros(1, 6, 2, dtype=torch.float64)
    weight[0, 0, 0] = 60.0
    solution.parameters["fc2.weight"] = weight
    activity = torch.tensor([[[1.0, 0, 0, 0, 0, 0]]], dtype=torch.float64)
    found = curvature.hessian(solution, "fc2", activity)[0, 0]
    torch.testing.assert_close(found, torch.tensor(-60.0, dtype=torch.float64).exp())
