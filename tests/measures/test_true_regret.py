"""The regret in a ball: of two quadratics in closed form, and its limit for nets."""

from functools import partial

import numpy as np
import pytest
import torch
from scipy.optimize import brentq

from flatlas.hessian.loss import flattened
from flatlas.measures import ball, regret_slice, true_regret
from flatlas.measures.ball import least_in_ball, projected
from flatlas.measures.minibatch_loss import minibatch_loss
from flatlas.measures.minibatches import minibatches

OPTIONS = {"batch": 8, "pairs": 6, "radii": (1e-4, 1e-3, 1e-2)}
# ½ (w − m)ᵀ A (w − m) of two members, about w = 0.
A = torch.tensor([[[2.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 4.0]]], dtype=torch.float64)
M = torch.tensor([[1.0, 0.4], [-0.3, 0.8]], dtype=torch.float64)


@pytest.fixture
def exact(monkeypatch):
    monkeypatch.setattr(ball, "TOLERANCE", 1e-9)


def quadratics(w):
    """Values and gradients of both members."""
    g = torch.einsum("mij,mj->mi", A, w - M)
    return ((w - M) * g).sum(1) / 2, g


def of(member, w):
    return quadratics(torch.as_tensor(w).expand(2, 2))[0][member].item()


def closed_form(member, radius):
    """The least value in the ball: w(λ) = (A + λ)⁻¹ A m, with λ such that |w| is the radius."""
    a, b = A[member].numpy(), (A[member] @ M[member]).numpy()

    def w(multiplier):
        return np.linalg.solve(a + multiplier * np.eye(2), b)

    if np.linalg.norm(w(0)) <= radius:
        return w(0)
    return w(brentq(lambda x: np.linalg.norm(w(x)) - radius, 0, 1e6, xtol=1e-13))


@pytest.mark.parametrize("radius", [1e-3, 0.1, 0.5, 5.0])
def test_two_quadratics(exact, radius):
    """Inside the ball and on it; the regret is that of the closed form."""
    found = least_in_ball(quadratics, torch.zeros_like(M), radius)
    assert found.converged.all()
    places = [closed_form(member, radius) for member in range(2)]
    np.testing.assert_allclose(found.place, places, atol=3e-4 * radius)
    expected = of(1, places[0]) - of(1, places[1])
    value = of(1, found.place[0]) - found.value[1].item()
    assert value == pytest.approx(expected, rel=1e-3)


def test_the_regret_of_two_quadratics_goes_to_the_formula(exact):
    """‖g₂‖ (1 − cos(g₁, g₂)) with gᵢ = −Aᵢ mᵢ; what is off is of the order of ε."""
    _, (one, two) = quadratics(torch.zeros_like(M))
    formula = (two.norm() * (1 - torch.cosine_similarity(one, two, dim=0))).item()
    off = []
    for radius in (0.1, 0.01, 0.001):
        found = least_in_ball(quadratics, torch.zeros_like(M), radius)
        off.append((of(1, found.place[0]) - found.value[1].item()) / radius / formula - 1)
    assert abs(off[2]) < 2e-3
    assert off[1] / off[0] == pytest.approx(0.1, rel=0.2)
    assert off[2] / off[1] == pytest.approx(0.1, rel=0.2)


def test_projection_leaves_what_is_inside():
    places = torch.tensor([[0.3, 0.4], [3.0, 4.0], [0.0, 0.0]], dtype=torch.float64)
    expected = torch.tensor([[0.3, 0.4], [0.6, 0.8], [0.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(projected(places, 1.0), expected)


def test_a_search_that_is_cut_short_says_so(exact, monkeypatch):
    monkeypatch.setattr(ball, "STEPS", 1)
    found = least_in_ball(quadratics, torch.zeros_like(M), 0.5)
    assert not found.converged.any()
    assert found.iterations.tolist() == [1, 1]


def test_a_flat_loss_stays_where_it_is():
    flat = partial(lambda w: (w.new_zeros(len(w)), torch.zeros_like(w)))
    found = least_in_ball(flat, torch.zeros_like(M), 0.5)
    assert found.converged.all()
    assert not found.place.any()


def test_the_ratio_goes_to_one_in_a_net(exact, make_solution):
    tables = true_regret.measure(make_solution("biases", 3), OPTIONS)
    summary, pairs = tables["summary"], tables["pairs"]
    assert summary["converged"].all()
    off = np.abs(summary["ratio"] - 1)
    assert off[0] < 1e-3
    assert off[0] < off[1] < off[2]
    by_radius = pairs.groupby("epsilon")["true_regret"].mean()
    np.testing.assert_allclose(summary["true_regret"], by_radius, rtol=1e-12)
    np.testing.assert_allclose(
        pairs["formula"] / pairs["epsilon"], [*pairs["formula"][:6] / 1e-4] * 3
    )


def test_the_true_regret_is_a_difference_of_losses_of_the_second_minibatch(exact, make_solution):
    """In a tiny ball the places are known: θ − ε g/‖g‖."""
    solution = make_solution("biases", 3)
    epsilon = 1e-5
    pairs = true_regret.measure(solution, {**OPTIONS, "radii": (epsilon,)})["pairs"]
    (w,) = flattened(solution.net, solution.parameters)
    for pair, drawn in enumerate(minibatches(solution, "regret", (6, 2, 8))):
        first, second = (minibatch_loss(solution, drawn[i : i + 1]) for i in range(2))
        downhill = [
            w - epsilon * g / g.norm()
            for g in (
                torch.func.grad(lambda x, f=f: f(x.unsqueeze(0)).sum())(w) for f in (first, second)
            )
        ]
        at = [second(x.unsqueeze(0)).item() for x in downhill]
        assert pairs["true_regret"][pair] == pytest.approx(at[0] - at[1], rel=1e-3)


def test_the_slice_is_the_plane_of_both_gradients(exact, make_solution):
    solution = make_solution("biases", 3)
    tables = regret_slice.measure(solution, {"batch": 8, "radius": 1e-4})
    surface, stars = tables["surface"], tables["stars"].set_index("of")
    np.testing.assert_allclose(
        stars.loc["f1", ["x_formula", "y_formula"]].astype(float), [-1, 0], atol=1e-12
    )
    # So small a ball is linear: the stars are where the gradients say, where each loss is least.
    for name in ("f1", "f2"):
        star = stars.loc[name]
        assert star["x"] == pytest.approx(star["x_formula"], abs=1e-2)
        assert star["y"] == pytest.approx(star["y_formula"], abs=1e-2)
        inside = surface[np.hypot(surface["x"], surface["y"]) <= 1]
        assert star[name] <= inside[name].min() + 1e-12
    assert stars["f2"]["f2"] < stars["f2"]["f1"]
    # θ is in the middle.
    middle = surface[(surface["x"].abs() < 1e-9) & (surface["y"].abs() < 1e-9)].iloc[0]
    drawn = minibatches(solution, "regret slice", (2, 8))
    there = minibatch_loss(solution, drawn)(
        flattened(solution.net, solution.parameters).expand(2, -1)
    )
    np.testing.assert_allclose(middle[["f1", "f2"]].astype(float), there, rtol=1e-12)
