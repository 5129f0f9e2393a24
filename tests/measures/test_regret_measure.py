"""The local regret against a plain torch module; in the KL-ball an α-scaling does not change it."""

import numpy as np
import pytest
import torch
from solutions import make_solution
from torch import nn

from flatlas.measures import measure
from flatlas.measures.minibatches import minibatches
from flatlas.measures.regret import Regret

OPTIONS = {"batch": 8, "pairs": 12, "dampings": (0.0, 0.1), "layer": "fc1", "factors": (1.0,)}


def tables(solution, **options):
    return measure("regret", solution, OPTIONS | options)


def gradients_of(solution, minibatches):
    """The gradient of each minibatch, from an equal net of torch modules."""
    layers = []
    for layer in solution.net.dense_layers:
        linear = nn.Linear(layer.inputs, layer.outputs).double()
        linear.weight.data = solution.parameters[f"{layer.name}.weight"][0].T.clone()
        linear.bias.data = solution.parameters[f"{layer.name}.bias"][0].clone()
        layers += [linear, nn.ReLU()]
    module = nn.Sequential(nn.Flatten(), *layers[:-1])
    for images in minibatches:
        loss = nn.functional.cross_entropy(
            module(solution.inputs[0, images]), solution.labels[0, images]
        )
        slopes = torch.autograd.grad(loss, list(module.parameters()))
        yield torch.cat([slope.flatten() for slope in slopes])


def test_the_regret_and_its_factors_are_those_of_a_plain_module():
    solution = make_solution("biases")
    row = tables(solution)["summary"].loc[0]
    pairs = minibatches(solution, "regret", (12, 2, 8)).flatten(0, 1)
    gradients = torch.stack([*gradients_of(solution, pairs)]).view(12, 2, -1)
    norms = gradients.norm(dim=2)
    apart = 1 - torch.cosine_similarity(*gradients.unbind(1))
    regret = norms[:, 1] * apart
    expected = {
        "regret": regret.mean(),
        "regret_error": regret.std() / 12**0.5,
        "dissimilarity": apart.mean(),
        "norm": norms.mean(),
        "root_mean_square": norms.square().mean().sqrt(),
    }
    assert row[[*expected]].tolist() == pytest.approx([*map(float, expected.values())], rel=1e-10)
    # Jensen's gap.
    assert 1.001 * row["norm"] < row["root_mean_square"]


def test_all_images_at_once_leave_no_regret_and_no_gap():
    found = tables(make_solution("biases"), batch=40)
    row = found["summary"].loc[0]
    assert row["regret"] == pytest.approx(0, abs=1e-12)
    assert row["norm"] == pytest.approx(row["root_mean_square"], rel=1e-12)
    assert row["norm"] == pytest.approx(row["gradient_norm"], rel=1e-10)
    np.testing.assert_allclose(found["kl_ball"]["regret"], 0, atol=1e-8)


@pytest.mark.parametrize("net", ["biases", "deep", "convolutional"])
def test_an_alpha_scaling_does_not_change_the_regret_in_the_kl_ball(net):
    found = tables(make_solution(net, images=16), factors=(1.0, 0.169, 5.9))
    ball = found["kl_ball"]
    assert ball["converged"].all()
    for name in ("regret", "norm", "dissimilarity"):
        by_factor = ball.pivot(index="damping", columns="factor", values=name)
        for factor in (0.169, 5.9):
            np.testing.assert_allclose(by_factor[factor], by_factor[1.0], rtol=1e-6)
    regret = found["summary"].set_index("factor")["regret"]
    assert (np.abs(regret / regret[1.0] - 1)[[0.169, 5.9]] > 0.1).all()


def test_without_damping_minibatches_are_alike_by_the_images_they_share():
    """With enough weights to move each prediction alone, 1 − cos knows no more of the net."""
    solution = make_solution("biases", 1, images=16)
    ball = tables(solution, batch=4)["kl_ball"].set_index("damping").loc[0.0]
    z = solution.net.forward(solution.parameters, solution.inputs).flatten()
    q = torch.where(solution.labels[0] == 1, z.sigmoid(), (-z).sigmoid())
    weight = (1 - q) / q
    drawn = minibatches(solution, "regret", (12, 2, 4))
    member = torch.zeros(12, 2, 16, dtype=torch.float64).scatter_(2, drawn, 1.0)
    norms = (member * weight).sum(2).sqrt()
    cosine = (member.prod(1) * weight).sum(1) / norms.prod(1)
    assert ball["dissimilarity"] == pytest.approx((1 - cosine).mean().item(), rel=1e-6)
    expected = (norms[:, 1] * (1 - cosine)).mean().item() * 16**0.5 / 4
    assert ball["regret"] == pytest.approx(expected, rel=1e-6)


def test_a_gradient_of_zero_is_at_a_right_angle_to_any_other():
    gradients = torch.tensor([[[0.0, 0.0], [3.0, 4.0]]], dtype=torch.float64)
    found = Regret.of(gradients, gradients)
    assert found.regret.tolist() == [5.0]
    assert found.norms.tolist() == [[0.0, 5.0]]
