"""The local regret against a plain torch module, and its limit in a ball in closed form."""

import numpy as np
import pytest
import torch
from scipy.optimize import brentq
from solutions import make_solution, module_of
from torch import nn

from flatlas.flatness import ball
from flatlas.flatness.ball import least_in_ball
from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.measures import measure
from flatlas.measures.minibatches import minibatches
from flatlas.measures.regret import Regret

OPTIONS = {"batch": 8, "pairs": 12, "dampings": (0.0, 0.1), "layer": "fc1", "factors": (1.0,)}


def tables(solution, **options):
    return measure("regret", solution, OPTIONS | options)


def gradients_of(solution, minibatches):
    """The gradient of each minibatch, from an equal net of torch modules."""
    module = module_of(solution)
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
    """If the weights can move each prediction alone, 1 − cos depends on nothing else in the net."""
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


# ½ (w − m)ᵀ A (w − m) of two members, about w = 0.
A = torch.tensor([[[2.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 4.0]]], dtype=torch.float64)
M = torch.tensor([[1.0, 0.4], [-0.3, 0.8]], dtype=torch.float64)


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    monkeypatch.setattr(ball, "TOLERANCE", 1e-9)


def quadratics(w):
    """Values and gradients of both members."""
    g = torch.einsum("mij,mj->mi", A, w - M)
    return ((w - M) * g).sum(1) / 2, g


def in_ball(radius, function=quadratics):
    return least_in_ball(function, torch.zeros_like(M), radius)


def of_second(w):
    return quadratics(torch.as_tensor(w).expand(2, 2))[0][1].item()


def closed_form(member, radius):
    """The least value in the ball: w(λ) = (A + λ)⁻¹ A m, with λ such that |w| is the radius."""
    a, b = A[member].numpy(), (A[member] @ M[member]).numpy()

    def w(multiplier):
        return np.linalg.solve(a + multiplier * np.eye(2), b)

    if np.linalg.norm(w(0)) <= radius:
        return w(0)
    return w(brentq(lambda x: np.linalg.norm(w(x)) - radius, 0, 1e6, xtol=1e-13))


@pytest.mark.parametrize("radius", [1e-3, 0.1, 0.5, 5.0])
def test_the_regret_of_two_quadratics(radius):
    """The minima lie inside the ball or on its surface."""
    found = in_ball(radius)
    assert found.converged.all()
    places = [closed_form(member, radius) for member in range(2)]
    np.testing.assert_allclose(found.place, places, atol=3e-4 * radius)
    value = of_second(found.place[0]) - found.value[1].item()
    assert value == pytest.approx(of_second(places[0]) - of_second(places[1]), rel=1e-3)


def test_a_search_without_enough_steps_has_not_converged(monkeypatch):
    monkeypatch.setattr(ball, "STEPS", 1)
    found = in_ball(0.5)
    assert not found.converged.any()
    assert found.iterations.tolist() == [1, 1]


def test_a_flat_loss_has_its_least_value_at_the_centre():
    found = in_ball(0.5, lambda w: (w.new_zeros(len(w)), torch.zeros_like(w)))
    assert found.converged.all()
    assert not found.place.any()


def test_a_search_leaves_a_saddle_but_not_a_minimum():
    """Neither member has a slope at the centre: the first is xy, the second x² + y²."""

    def both(w):
        (x, y), (u, v) = w
        slopes = torch.stack([torch.stack([y, x]), torch.stack([2 * u, 2 * v])])
        return torch.stack([x * y, u**2 + v**2]), slopes

    found = in_ball(2.0, both)
    assert found.converged.all()
    assert found.value.tolist() == pytest.approx([-2.0, 0.0])
    assert found.place[0].norm().item() == pytest.approx(2.0)
    assert not found.place[1].any()


def test_the_true_regret_of_a_net_approaches_the_formula():
    """In a tiny ball the least value of a minibatch is at θ − ε g/‖g‖, here by autograd."""
    solution = make_solution("biases")
    radii = [1e-5, 1e-4, 1e-3, 1e-2]
    tables = measure("true_regret", solution, {"batch": 8, "pairs": 6, "radii": radii})
    summary, pairs = tables["summary"], tables["pairs"]
    assert summary["converged"].all()
    off = np.abs(summary["ratio"] - 1)
    assert off[1] < 1e-3
    assert off[1] < off[2] < off[3]
    by_radius = pairs.groupby("epsilon")["true_regret"].mean()
    np.testing.assert_allclose(summary["true_regret"], by_radius, rtol=1e-12)
    np.testing.assert_allclose(
        pairs["formula"] / pairs["epsilon"], [*pairs["formula"][:6] / radii[0]] * 4
    )
    (w,) = flattened(solution.net, solution.parameters)
    whole = MeanLoss(solution.net, solution.inputs, solution.labels)
    for drawn, found in zip(
        minibatches(solution, "regret", (6, 2, 8)), pairs["true_regret"], strict=False
    ):
        losses = [whole.of(images) for images in drawn]
        slopes = [torch.func.grad(loss)(w) for loss in losses]
        at = [losses[1](w - radii[0] * g / g.norm()).item() for g in slopes]
        assert found == pytest.approx(at[0] - at[1], rel=1e-3)


def test_the_slice_is_the_plane_of_both_gradients():
    """So small a ball is linear: each loss is least where the gradients say."""
    solution = make_solution("biases")
    tables = measure("regret_slice", solution, {"batch": 8, "radius": 1e-4})
    surface, stars = tables["surface"], tables["stars"].set_index("of")
    formulas = stars.loc["f1", ["x_formula", "y_formula"]].astype(float)
    np.testing.assert_allclose(formulas, [-1, 0], atol=1e-12)
    inside = surface[np.hypot(surface["x"], surface["y"]) <= 1]
    for name, star in stars.iterrows():
        assert star["x"] == pytest.approx(star["x_formula"], abs=1e-2)
        assert star["y"] == pytest.approx(star["y_formula"], abs=1e-2)
        assert star[name] <= inside[name].min() + 1e-12
    assert stars["f2"]["f2"] < stars["f2"]["f1"]
    # θ is in the middle.
    middle = surface[(surface["x"].abs() < 1e-9) & (surface["y"].abs() < 1e-9)].iloc[0]
    (w,) = flattened(solution.net, solution.parameters)
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    there = [loss.of(images)(w) for images in minibatches(solution, "regret slice", (2, 8))]
    np.testing.assert_allclose(middle[["f1", "f2"]].astype(float), there, rtol=1e-12)
