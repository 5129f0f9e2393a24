"""The σ that a rise of the loss allows, in closed form on a quadratic; and the bound."""

from math import exp, log, sqrt

import numpy as np
import pytest
import torch
from quadratics import Quadratic, positive_definite
from scipy.stats import binom

from flatlas.flatness.pac_bayes import Perturbations, bound, largest_error, tolerated

W = torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0], dtype=torch.float64)


def perturbed(scale, pairs, seed=0):
    return Perturbations(scale, pairs, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("scale", [torch.ones_like(W), W.abs()])
@pytest.mark.parametrize("rise", [0.1, 30.0])
def test_a_quadratic_rises_by_half_the_trace(scale, rise):
    """E L − L = σ² tr(C H C) / 2, whatever the slope is."""
    loss = Quadratic(positive_definite(5), centre=W, slope=torch.ones_like(W), least=0.7)
    found = tolerated(loss, perturbed(scale, 400), rise, tolerance=1e-6)
    expected = sqrt(2 * rise / (scale.square() * loss.hessian.diagonal()).sum().item())
    assert found.converged
    assert abs(found.sigma.value - expected) < 4 * found.sigma.standard_error
    assert found.sigma.standard_error < 0.1 * expected


def test_the_rise_of_the_same_perturbations_is_the_wanted_one():
    loss = Quadratic(positive_definite(5), centre=W)
    perturbations = perturbed(torch.ones_like(W), 3)
    found = tolerated(loss, perturbations, 0.1, tolerance=1e-8)
    rises = [loss.value(W + shift).item() for shift in perturbations.of(found.sigma.value)]
    assert np.mean(rises) == pytest.approx(0.1, rel=1e-8)
    assert found.residual < 1e-8


def test_the_standard_error_is_the_spread_over_seeds():
    loss = Quadratic(positive_definite(5), centre=W)
    ones = torch.ones_like(W)
    found = [tolerated(loss, perturbed(ones, 20, seed), 0.1, 1e-4).sigma for seed in range(60)]
    spread = np.std([one.value for one in found], ddof=1)
    assert np.mean([one.standard_error for one in found]) == pytest.approx(spread, rel=0.3)


def test_a_loss_that_never_rises_has_no_sigma():
    flat = Quadratic(torch.zeros(2, 2).double())
    found = tolerated(flat, perturbed(torch.ones(2).double(), 2), 0.1, 1e-3)
    assert not found.converged
    assert found.sigma.value > 1e6
    assert found.sigma.standard_error == np.inf


@pytest.mark.parametrize(("wrong", "n", "delta"), [(0, 50, 0.05), (7, 100, 0.1)])
def test_the_inverted_divergence_is_chernoff_s_bound(wrong, n, delta):
    """For one hypothesis: P(at most so many wrong) ≤ exp(−n kl), so q bounds the binomial's."""
    q = largest_error(wrong / n, log(1 / delta) / n)
    assert binom.cdf(wrong, n, q) <= delta
    assert binom.cdf(wrong, n, wrong / n + 1e-3) > delta
    if not wrong:
        assert q == pytest.approx(1 - exp(-log(1 / delta) / n), rel=1e-7)


def test_the_bound_by_hand():
    """If all examples are right, q = 1 − exp(−(KL + ln(2√n/δ) + the choice of σ) / n)."""
    w, prior = torch.tensor([0.3, 0.4]).double(), torch.zeros(2).double()
    noise = perturbed(torch.ones(2).double(), 2)
    found = bound(lambda _: 0.0, w, prior, 0.5, noise, examples=1000, confidence=0.95)
    # 0.5 = 2^(−4/4), and |w|² / (2 σ²) is a half.
    choice = 2 * log(5) + log(np.pi**2 / 3 - 1)
    allowed = (0.5 + choice + log(2 * sqrt(1000) / 0.05)) / 1000
    assert found.sigma == 0.5
    assert found.divergence == pytest.approx(0.5)
    assert found.error.value == pytest.approx(1 - exp(-allowed), rel=1e-7)
    # McAllester's is never lower.
    drawn = iter([0.1, 0.2, 0.3, 0.4])
    found = bound(lambda _: next(drawn), w, prior, 0.6, noise, examples=1000, confidence=0.95)
    assert found.sigma == pytest.approx(2 ** (-3 / 4))
    assert found.training_error.value == pytest.approx(0.25)
    assert 0.25 < found.error.value < 0.25 + sqrt(allowed / 2)
    assert found.error.standard_error > 0.05


def test_a_distant_prior_bounds_nothing():
    w = torch.full((2,), 100.0).double()
    noise = perturbed(torch.ones(2).double(), 2)
    found = bound(lambda _: 0.0, w, 0 * w, 0.01, noise, examples=10, confidence=0.95)
    assert found.error.value == 1.0
