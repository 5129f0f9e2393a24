"""σ_g of scaled dual shifts, pair by pair, in the limit of the gradient, and unscaled."""

import numpy as np
import pytest
import torch

from flatlas.measures import measure
from flatlas.nets.loss import sample_losses

CASES = [("one_hidden", "fc1", 3), ("biases", "fc2", 3), ("deep", "fc3", 1), ("deep", "fc5", 3)]


def scaled(solution, layer, *scales):
    options = {"layer": layer, "directions": "hessian", "scales": scales}
    tables = measure("scaled_shift", solution, options)
    return tables["directions"], tables["summary"]


@pytest.mark.parametrize(("net", "layer", "outputs"), CASES)
def test_a_scale_of_one_is_the_duality(make_solution, net, layer, outputs):
    solution = make_solution(net, outputs, images=100)
    rows, summary = scaled(solution, layer, 0.5, 1.0)
    options = {"layer": layer, "directions": "hessian", "sharp": "steepest"}
    tables = measure("duality", solution, options)
    expected = tables["directions"]
    rows = rows[rows["scale"] == 1.0]
    assert rows["n"].tolist() == expected["n"].tolist()
    largest = expected["sigma_g"].max()
    np.testing.assert_allclose(rows["sigma_g"], expected["sigma_g"], atol=1e-11 * largest)
    for name in ("T_g", "T_h"):
        assert summary[name][1] == pytest.approx(tables["summary"][name][0], rel=1e-11)
    assert summary["scale"].tolist() == [0.5, 1.0]
    assert summary["T_g"][0] != summary["T_g"][1]


def one_image_a_class(make_solution, net):
    """So that the partner of a test image is the one training image of its label."""
    return make_solution(net, images=3, test_images=12)


def pairs(solution, layer):
    """(partner, label, Δw) of every pair."""
    weight = solution.parameters[f"{layer}.weight"]
    for k, label in enumerate(solution.test_labels[0].tolist()):
        images = solution.inputs[:, [label]], solution.test_inputs[:, [k]]
        a, test_a = (solution.net.into(solution.parameters, x, layer).flatten() for x in images)
        yield images[0], label, torch.outer(a, (test_a - a) @ weight[0]) / (a @ a)


def loss_at(solution, layer, image, label, shift):
    name = f"{layer}.weight"
    changed = {**solution.parameters, name: solution.parameters[name] + shift}
    logits = solution.net.forward(changed, image)
    return sample_losses(logits, torch.tensor([[label]])).squeeze()


@pytest.mark.parametrize("scale", [0.2, 0.7])
@pytest.mark.parametrize(("net", "layer"), [("two_hidden", "fc2"), ("biases", "fc2")])
def test_the_total_from_changed_weights(make_solution, net, layer, scale):
    """T_g is the same in every basis; each loss comes from a whole net with w + s_w Δw."""
    solution = one_image_a_class(make_solution, net)
    gradients = []
    for image, label, shift in pairs(solution, layer):
        moved, still = (loss_at(solution, layer, image, label, s * shift) for s in (scale, 0))
        gradients.append((moved - still) / (scale * shift).square().sum() * scale * shift)
    total = torch.stack(gradients).flatten(1).var(0, correction=0).sum().item()
    assert scaled(solution, layer, scale)[1]["T_g"][0] == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize(("net", "layer"), [("two_hidden", "fc2"), ("biases", "fc2")])
def test_small_scales_see_the_gradient_along_the_shift(make_solution, net, layer):
    """As s_w -> 0, g becomes the part of ∇l along Δw, here from automatic differentiation."""
    solution = one_image_a_class(make_solution, net)
    gradients = []
    for image, label, shift in pairs(solution, layer):
        at = torch.zeros_like(shift).requires_grad_()
        (gradient,) = torch.autograd.grad(loss_at(solution, layer, image, label, at), at)
        gradients.append((gradient * shift).sum() / shift.square().sum() * shift)
    total = torch.stack(gradients).flatten(1).var(0, correction=0).sum().item()
    _, summary = scaled(solution, layer, 1e-3, 1e-6)
    assert summary["T_g"][1] == pytest.approx(total, rel=1e-5)
    assert abs(summary["T_g"][0] / total - 1) > 1e-5


def test_pairs_without_dual_weights_leave_no_nan(make_solution):
    solution = make_solution("two_hidden", images=30, test_images=6)
    solution.inputs[0, 0] = 0.0
    solution.test_inputs[0, 0] = 1e-3
    solution.test_inputs[0, 1] = solution.inputs[0, 1]
    rows, summary = scaled(solution, "fc2", 0.1, 1.0)
    assert np.isfinite(rows.to_numpy(dtype=float)).all()
    assert np.isfinite(summary.to_numpy(dtype=float)).all()
