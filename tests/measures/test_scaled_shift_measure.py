"""σ_g of scaled dual shifts, pair by pair, in the limit of the gradient, and unscaled."""

import numpy as np
import pytest
import torch
from solutions import along, make_solution, partners_by_search

from flatlas.measures import measure


def scaled(solution, layer, *scales):
    options = {"layer": layer, "directions": "hessian", "scales": scales}
    tables = measure("scaled_shift", solution, options)
    return tables["directions"], tables["summary"]


@pytest.mark.parametrize(
    ("net", "layer", "outputs"),
    [("one_hidden", "fc1", 3), ("biases", "fc2", 3), ("deep", "fc3", 1), ("deep", "fc5", 3)],
)
def test_a_scale_of_one_is_the_duality(net, layer, outputs):
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


def pairs(solution, layer):
    """The loss of each partner as a function of the layer's flattened weights, these, and Δw."""
    losses, flat = along(solution, layer)
    weight = solution.parameters[f"{layer}.weight"][0]
    for k, partner in enumerate(partners_by_search(solution)):
        images = solution.inputs[:, [partner]], solution.test_inputs[:, [k]]
        a, test_a = (solution.net.into(solution.parameters, x, layer).flatten() for x in images)
        shift = torch.outer(a, (test_a - a) @ weight) / (a @ a)
        yield lambda w, image=partner: losses(w, [image])[0], flat, shift.flatten()


def total(gradients):
    """T_g, which is the same in every basis."""
    return torch.stack(gradients).var(0, correction=0).sum().item()


@pytest.mark.parametrize("scale", [0.2, 0.7])
@pytest.mark.parametrize("net", ["two_hidden", "biases"])
def test_the_total_is_that_of_changed_weights(net, scale):
    """Each loss comes from a forward pass with w + s_w Δw."""
    solution = make_solution(net, images=12, test_images=12)
    gradients = [
        (loss(w + scale * shift) - loss(w)) / (scale * shift.square().sum()) * shift
        for loss, w, shift in pairs(solution, "fc2")
    ]
    _, summary = scaled(solution, "fc2", scale)
    assert summary["T_g"][0] == pytest.approx(total(gradients), rel=1e-10)


@pytest.mark.parametrize("net", ["two_hidden", "biases"])
def test_small_scales_see_the_gradient_along_the_shift(net):
    """As s_w -> 0, g becomes the part of ∇l along Δw, here from automatic differentiation."""
    solution = make_solution(net, images=12, test_images=12)
    gradients = [
        (torch.func.grad(loss)(w) @ shift) / shift.square().sum() * shift
        for loss, w, shift in pairs(solution, "fc2")
    ]
    _, summary = scaled(solution, "fc2", 1e-3, 1e-6)
    assert summary["T_g"][1] == pytest.approx(total(gradients), rel=1e-5)
    assert abs(summary["T_g"][0] / total(gradients) - 1) > 1e-5


def test_pairs_without_dual_weights_leave_no_nan():
    solution = make_solution("two_hidden", images=30, test_images=6)
    solution.inputs[0, 0] = 0.0
    solution.test_inputs[0, 0] = 1e-3
    solution.test_inputs[0, 1] = solution.inputs[0, 1]
    for table in scaled(solution, "fc2", 0.1, 1.0):
        assert np.isfinite(table.to_numpy(dtype=float)).all()
