"""The local regret against a plain torch module, and in the KL-ball what no α-scaling changes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from flatlas.measures.minibatches import minibatches
from flatlas.measures.regret import Regret, measure

OPTIONS = {"batch": 8, "pairs": 12, "dampings": (0.0, 0.1), "layer": "fc1", "factors": (1.0,)}


def plain(solution):
    """The same net as a module of its own."""
    layers = []
    for layer in solution.net.dense_layers:
        linear = nn.Linear(layer.inputs, layer.outputs).double()
        linear.weight.data = solution.parameters[f"{layer.name}.weight"][0].T.clone()
        linear.bias.data = solution.parameters[f"{layer.name}.bias"][0].clone()
        layers += [linear, nn.ReLU()]
    return nn.Sequential(nn.Flatten(), *layers[:-1])


def by_autograd(solution, drawn):
    """Norm of g₁ and g₂, and the cosine between them, of one pair."""
    module, found = plain(solution), []
    for images in drawn:
        module.zero_grad()
        logits = module(solution.inputs[0, images])
        nn.functional.cross_entropy(logits, solution.labels[0, images]).backward()
        found.append(torch.cat([p.grad.flatten() for p in module.parameters()]))
    one, two = found
    return one.norm().item(), two.norm().item(), torch.cosine_similarity(one, two, dim=0).item()


def test_the_regret_and_its_factors_are_those_of_a_plain_module(make_solution):
    solution = make_solution("biases", 3)
    row = measure(solution, OPTIONS)["summary"].loc[0]
    pairs = minibatches(solution, "regret", (12, 2, 8))
    one, two, cosine = np.array([by_autograd(solution, pair) for pair in pairs]).T
    regret = two * (1 - cosine)
    assert row["regret"] == pytest.approx(regret.mean(), rel=1e-10)
    assert row["regret_error"] == pytest.approx(regret.std(ddof=1) / 12**0.5, rel=1e-10)
    assert row["dissimilarity"] == pytest.approx((1 - cosine).mean(), rel=1e-10)
    norms = np.concatenate([one, two])
    assert row["norm"] == pytest.approx(norms.mean(), rel=1e-10)
    assert row["root_mean_square"] == pytest.approx(np.sqrt((norms**2).mean()), rel=1e-10)


@pytest.mark.parametrize("net", ["biases", "convolutional"])
def test_jensens_gap_is_not_negative(make_solution, net):
    row = measure(make_solution(net, 3), OPTIONS)["summary"].loc[0]
    assert 1.001 * row["norm"] < row["root_mean_square"]


def test_all_images_at_once_leave_no_regret_and_no_gap(make_solution):
    tables = measure(make_solution("biases", 3), {**OPTIONS, "batch": 40})
    row = tables["summary"].loc[0]
    assert row["regret"] == pytest.approx(0, abs=1e-12)
    assert row["norm"] == pytest.approx(row["root_mean_square"], rel=1e-12)
    assert row["norm"] == pytest.approx(row["gradient_norm"], rel=1e-10)
    np.testing.assert_allclose(tables["kl_ball"]["regret"], 0, atol=1e-8)


@pytest.mark.parametrize("net", ["biases", "deep", "convolutional"])
def test_an_alpha_scaling_leaves_the_regret_in_the_kl_ball(make_solution, net):
    factors = {"factors": (1.0, 0.169, 5.9)}
    tables = measure(make_solution(net, 3, images=16), {**OPTIONS, **factors})
    ball = tables["kl_ball"]
    assert ball["converged"].all()
    for name in ("regret", "norm", "dissimilarity"):
        by_factor = ball.pivot(index="damping", columns="factor", values=name)
        for factor in (0.169, 5.9):
            np.testing.assert_allclose(by_factor[factor], by_factor[1.0], rtol=1e-6)
    regret = tables["summary"].set_index("factor")["regret"]
    assert (np.abs(regret / regret[1.0] - 1)[[0.169, 5.9]] > 0.1).all()


def test_without_damping_minibatches_are_alike_by_the_images_they_share(make_solution):
    """As many weights as to move each prediction alone: 1 − cos knows no more of the net."""
    solution = make_solution("biases", 1, images=16)
    ball = measure(solution, {**OPTIONS, "batch": 4})["kl_ball"].set_index("damping").loc[0.0]
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


def test_a_gradient_of_zero_is_like_no_other():
    gradients = torch.tensor([[[0.0, 0.0], [3.0, 4.0]]], dtype=torch.float64)
    found = Regret.of(gradients, gradients)
    assert found.regret.tolist() == [5.0]
    assert found.norms.tolist() == [[0.0, 5.0]]


def test_images_with_wrong_labels_are_not_looked_at(make_solution):
    solution = make_solution("biases", 3)
    shown = replace(
        solution,
        inputs=torch.cat([solution.inputs, 3 * solution.inputs[:, :9]], 1),
        labels=torch.cat([solution.labels, solution.labels[:, 9:18]], 1),
        clean=torch.cat([solution.clean, torch.zeros_like(solution.clean[:, :9])], 1),
    )
    for name, table in measure(solution, OPTIONS).items():
        found = measure(shown, OPTIONS)[name].drop(columns="residual", errors="ignore")
        expected = table[found.columns].astype(float)
        np.testing.assert_allclose(found.astype(float), expected, rtol=1e-9)
