"""The local learning coefficient: where the posterior is Gaussian, and of deep linear networks."""

from itertools import combinations
from math import ceil, log, pi

import numpy as np
import pytest
import torch
from quadratics import Quadratic, positive_definite

from flatlas.flatness.learning_coefficient import Posterior, Run, learning_coefficient

N = 10_000
SCALE = N / log(N)


def sampled(loss, run=None, gamma=1.0, minibatches=None, seed=0):
    random = torch.Generator().manual_seed(seed)
    run = run or Run(chains=4, steps=600, burn_in=200)
    return learning_coefficient(loss, Posterior(SCALE, gamma), run, random, minibatches)


def of_gaussian(hessian, gamma):
    """½ Σ nβh / (nβh + γ), which is the mean of nβ wᵀHw / 2 with covariance (nβH + γ)⁻¹."""
    h = SCALE * torch.linalg.eigvalsh(hessian)
    return (h / (h + gamma)).sum().item() / 2


@pytest.mark.parametrize("gamma", [1.0, 1000.0])
def test_a_quadratic_minimum_has_half_its_dimension(gamma):
    loss = Quadratic(positive_definite(8), least=0.3)
    found = sampled(loss, gamma=gamma)
    expected = of_gaussian(loss.hessian, gamma)
    assert abs(found.coefficient.value - expected) < 4 * found.coefficient.standard_error
    assert found.coefficient.standard_error < 0.05 * expected
    assert found.converged, found.verdict
    if gamma == 1:
        assert found.coefficient.value == pytest.approx(8 / 2, rel=0.1)


@pytest.mark.parametrize("step_size", [None, (pi / 8) ** 2 / 100])
def test_a_direction_is_sampled_even_if_a_step_turns_it_by_half_an_oscillation(step_size):
    """With nβh = 3γ, the direction oscillates twice as fast as under the localization alone."""
    h = torch.tensor([3.0] * 10 + [1.0] * 10).double() * 100 / SCALE
    loss = Quadratic(torch.diag(h))
    found = sampled(loss, Run(4, 100, 30, step_size, leaps=4), gamma=100.0)
    expected = of_gaussian(loss.hessian, 100.0)
    assert found.converged, found.verdict
    assert abs(found.coefficient.value - expected) < 4 * found.coefficient.standard_error


def test_the_standard_error_is_the_spread_over_seeds():
    loss = Quadratic(positive_definite(4))
    found = [sampled(loss, Run(4, 150, 100), seed=seed).coefficient for seed in range(25)]
    spread = np.std([one.value for one in found], ddof=1)
    assert np.mean([one.standard_error for one in found]) == pytest.approx(spread, rel=0.4)


def minibatches():
    """Losses with different Hessians and slopes, and their mean."""
    random = torch.Generator().manual_seed(1)
    roots = torch.randn(20, 12, 4, generator=random, dtype=torch.float64)
    slopes = torch.randn(20, 4, generator=random, dtype=torch.float64)
    hessians = roots.mT @ roots / 12
    parts = [
        Quadratic(hessian, slope=slope)
        for hessian, slope in zip(hessians, slopes - slopes.mean(0), strict=True)
    ]
    return Quadratic(hessians.mean(0)), parts


def test_minibatches_add_at_most_what_is_said():
    loss, parts = minibatches()
    found = sampled(loss, Run(4, 800, 200), minibatches=parts)
    expected, error = of_gaussian(loss.hessian, 1.0), 4 * found.coefficient.standard_error
    assert expected - error < found.coefficient.value < expected + found.minibatch_bias + error
    assert found.converged, found.verdict
    too_long = sampled(loss, Run(2, 400, 100, step_size=1e-3), minibatches=parts)
    assert not too_long.converged
    assert too_long.coefficient.value > expected + too_long.minibatch_bias / 2


@pytest.mark.parametrize(
    ("slope", "run", "complaint"),
    [
        (1.0, Run(4, 100, 50), "no minimum"),
        (0.0, Run(4, 100, 1, step_size=10.0), "accepted"),
        (0.0, Run(8, 100, 1, step_size=1e-7), "drifts"),
    ],
)
def test_chains_that_are_not_healthy_say_so(slope, run, complaint):
    hessian = positive_definite(4)
    found = sampled(Quadratic(hessian, slope=slope * torch.ones(4).double()), run)
    assert not found.converged
    assert any(complaint in sentence for sentence in found.verdict)


class LinearNet:
    """½ |(W_M ⋯ W_1 − W) x|² in the mean over N Gaussian x, with W = W_M ⋯ W_1 at the solution.

    The product at the solution is 1 in the first `rank` places of the diagonal.
    """

    def __init__(self, widths, rank):
        random = torch.Generator().manual_seed(0)
        x = torch.randn(N, widths[0], generator=random, dtype=torch.float64)
        self.moment = x.T @ x / N
        factors = [torch.zeros(o, i).double() for o, i in zip(widths[1:], widths, strict=False)]
        for one in factors:
            one.diagonal()[:rank] = 1
        self.shapes = {
            f"{i}": torch.Size(shape)
            for i, shape in enumerate(zip(widths[1:], widths[:-1], strict=True))
        }
        self.w = torch.cat([one.flatten() for one in factors])
        self.size = len(self.w)
        self.truth = self.product(self.w)

    def product(self, w):
        pieces = w.split([shape.numel() for shape in self.shapes.values()])
        factors = [p.view(s) for p, s in zip(pieces, self.shapes.values(), strict=True)]
        whole = factors[0]
        for one in factors[1:]:
            whole = one @ whole
        return whole

    def value_and_gradient(self, w):
        w = w.detach().requires_grad_()
        with torch.enable_grad():
            away = self.product(w) - self.truth
            value = (away @ self.moment * away).sum() / 2
            (slope,) = torch.autograd.grad(value, w)
        return value.detach(), slope


def aoyagi(widths, rank):
    """λ of a deep linear network whose product has this rank (Aoyagi 2024, Theorem 1)."""
    spare = [width - rank for width in widths]
    for size in range(2, len(widths) + 1):
        for chosen in combinations(range(len(widths)), size):
            inside = [spare[i] for i in chosen]
            outside = [s for i, s in enumerate(spare) if i not in chosen] or [np.inf]
            layers = size - 1
            if (
                max(inside) < min(outside)
                and sum(inside) >= layers * max(inside)
                and sum(inside) < layers * min(outside)
            ):
                a = sum(inside) - (ceil(sum(inside) / layers) - 1) * layers
                return (
                    (rank * (widths[0] + widths[-1]) - rank**2) / 2
                    + a * (layers - a) / (4 * layers)
                    - layers * (layers - 1) / 4 * (sum(inside) / layers) ** 2
                    + sum(i * j for i, j in combinations(inside, 2)) / 2
                )
    raise AssertionError


def test_the_formula_agrees_with_reduced_rank_regression():
    """Widths (1, 1, 1) with truth 0: the zeta function of (xy)² has its pole at 1/2."""
    assert aoyagi((1, 1, 1), 0) == 0.5
    # A regular model, in which one layer is the product: H_1 H_2 / 2.
    assert aoyagi((3, 5), 3) == 7.5


@pytest.mark.parametrize(
    ("widths", "rank"), [((2, 2, 2), 0), ((2, 2, 2), 1), ((4, 1, 4), 1), ((3, 2, 3), 1)]
)
def test_deep_linear_networks_have_the_known_coefficient(widths, rank):
    """The estimate agrees up to corrections of the order of 1 / log n."""
    net = LinearNet(widths, rank)
    found = sampled(net, Run(4, 800, 200))
    expected = aoyagi(widths, rank)
    assert expected < net.size / 2
    error = 3 * found.coefficient.standard_error
    assert found.coefficient.value == pytest.approx(expected, abs=error + expected / log(N))
    assert found.coefficient.value < net.size / 2 - error
