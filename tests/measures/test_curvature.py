"""The layer's Hessian, Fisher matrix and gradient against automatic differentiation."""

import pytest
import torch
from solutions import LAYERS, along, layer_hessian, make_solution
from torch.autograd.functional import jacobian

from flatlas.measures import curvature


def assert_equal_matrices(found, expected):
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12 * expected.abs().max().item())


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_curvature_and_gradient_are_those_of_autograd(net, layer, outputs):
    solution = make_solution(net, outputs)
    activity = solution.into(layer, solution.inputs)
    slopes = jacobian(*along(solution, layer), vectorize=True)
    expected = {
        "hessian": layer_hessian(solution, layer),
        "fisher": slopes.T @ slopes / len(slopes),
        "gradient": slopes.mean(0),
    }
    for name, matrix in expected.items():
        assert_equal_matrices(getattr(curvature, name)(solution, layer, activity), matrix)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("matrix", ["hessian", "fisher"])
@pytest.mark.parametrize("layer", ["fc1", "fc2", "fc3"])
@pytest.mark.parametrize("few", [1, 8], ids=["narrow", "wide"])
def test_blocks_of_images_change_nothing(monkeypatch, few, layer, matrix, outputs):
    """Each layer once as a narrow one, in blocks of a few images, and once as a wide one."""
    solution = make_solution("biases", outputs)
    activity = solution.into(layer, solution.inputs)
    whole = getattr(curvature, matrix)(solution, layer, activity)
    halves = sum(size * (size + 1) // 2 for size in solution.net.dense(layer).fans)
    for name, value in {"NUMBERS": 7 * halves, "FEW": few, "IMAGES": 15}.items():
        monkeypatch.setattr(curvature, name, value)
    assert_equal_matrices(getattr(curvature, matrix)(solution, layer, activity), whole)


def test_a_net_that_is_sure_keeps_its_small_curvature():
    """With logits z = (x, 0) the curvature is p (1 − p), here about e^-60, far below round-off."""
    solution = make_solution("one_hidden", outputs=2, images=1)
    weight = torch.zeros(1, 6, 2, dtype=torch.float64)
    weight[0, 0, 0] = 60.0
    solution.parameters["fc2.weight"] = weight
    activity = torch.tensor([[[1.0, 0, 0, 0, 0, 0]]], dtype=torch.float64)
    found = curvature.hessian(solution, "fc2", activity)[0, 0]
    torch.testing.assert_close(found, torch.tensor(-60.0, dtype=torch.float64).exp())
