"""The local learning coefficient: where the posterior is Gaussian, and of deep linear networks."""

from itertools import combinations
from math import ceil, log

import numpy as np
import pytest
import torch
from quadratics import Quadratic, positive_definite

from flatlas.flatness.learning_coefficient import Posterior, Run, learning_coefficient

N = 10_000
SCALE = N / log(N)


def sampled(parts, w, run=None, gamma=1.0, seed=0, scale=SCALE):
    random = torch.Generator().manual_seed(seed)
    return learning_coefficient(
        parts, Posterior(w, scale, gamma), run or Run(4, 1500, 500), random
    )


def of_gaussian(hessian, gamma, scale=SCALE):
    """½ Σ nβh / (nβh + γ), which is the mean of nβ wᵀHw / 2 with covariance (nβH + γ)⁻¹."""
    h = scale * torch.linalg.eigvalsh(hessian)
    return (h / (h + gamma)).sum().item() / 2


@pytest.mark.parametrize("gamma", [1.0, 1000.0])
def test_a_quadratic_minimum_has_half_its_dimension(gamma):
    loss = Quadratic(positive_definite(8), least=0.3)
    found = sampled([loss], loss.w, gamma=gamma)
    expected = of_gaussian(loss.hessian, gamma)
    assert abs(found.coefficient.value - expected) < 4 * found.coefficient.standard_error
    assert found.coefficient.standard_error < 0.05 * expected
    assert found.converged, found.verdict
    if gamma == 1:
        assert found.coefficient.value == pytest.approx(8 / 2, rel=0.1)


class LinearNet:
    """½ E |(W_M ⋯ W_1 − W) x|² over sampled Gaussian x, with y = W x and without biases."""

    def __init__(self, widths, factors, n=N, seed=0):
        random = torch.Generator().manual_seed(seed)
        x = torch.randn(n, widths[0], generator=random, dtype=torch.float64)
        self.moment = x.T @ x / n
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
