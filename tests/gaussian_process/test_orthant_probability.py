"""Minimax tilting against closed forms, scipy's integrals and its error bars."""

from math import asin, log, pi

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from flatlas.errors import FlatlasError
from flatlas.gaussian_process import orthant
from flatlas.gaussian_process.orthant import orthant_probability


def probability(covariance, signs, samples=20_000, seed=0):
    return orthant_probability(
        np.asarray(covariance, float), np.asarray(signs), samples, np.random.default_rng(seed)
    )


def within(found, expected, errors=4):
    return abs(found.log_p - expected) < errors * found.standard_error + 1e-12


@pytest.mark.parametrize("n", [3, 20, 100, 300])
def test_variables_with_correlations_of_a_half(n):
    """All have a common half; they exceed it if it is the least of n + 1, so P = 1 / (n + 1)."""
    found = probability(0.5 * np.eye(n) + 0.5, np.ones(n), samples=4000)
    assert within(found, -log(n + 1))
    assert found.standard_error < 0.03
    assert found.converged


@pytest.mark.parametrize("n", [1, 4, 8])
def test_the_probability_is_scipy_s(n):
    for seed in range(4):
        random = np.random.default_rng(seed)
        rows, signs = random.normal(size=(n, n + 2)), random.choice([-1, 1], n)
        covariance = rows @ rows.T
        signed, chance = covariance * np.outer(signs, signs), np.random.default_rng(0)
        exact = multivariate_normal.cdf(np.zeros(n), cov=signed, maxpts=400_000, rng=chance)
        found = probability(covariance, signs)
        assert found.log_p == pytest.approx(log(exact), abs=4 * found.standard_error + 1e-4)
        assert found.bound >= found.log_p - 4 * found.standard_error


def test_a_probability_far_too_small_for_float64():
    """Pairs with ρ = -0.999: each takes a factor of about a hundredth, and 200 of them 1e-370."""
    rho = -0.999
    pairs = np.kron(np.eye(200), [[1, rho], [rho, 1]])
    found = probability(pairs, np.ones(400), samples=2000)
    assert within(found, 200 * log(0.25 + asin(rho) / (2 * pi)))
    assert found.log_p < -740


def test_standard_errors_are_the_spread_of_estimates(digits):
    _, labels, matrix = digits(60)
    runs = [probability(matrix, 2 * labels - 1, samples=2000, seed=seed) for seed in range(30)]
    spread = np.std([run.log_p for run in runs], ddof=1)
    error = np.mean([run.standard_error for run in runs])
    assert 0.6 * error < spread < 1.6 * error


def test_the_search_ends_at_a_saddle_point(digits):
    """No small step in µ lowers ψ there, none in x raises it."""
    _, labels, matrix = digits(30)
    factor, diagonal = orthant._reordered(matrix.numpy() * np.outer(2 * labels - 1, 2 * labels - 1))
    lower = factor / diagonal[:, None] - np.eye(30)
    x, mu, _, residual = orthant._saddle_point(lower)
    assert residual < 1e-6
    here = orthant._psi(lower, x, mu)
    for seed in range(20):
        step = np.append(1e-2 * np.random.default_rng(seed).normal(size=29), 0)
        assert orthant._psi(lower, x, mu + step) > here
        assert orthant._psi(lower, x + step, mu) < here


def test_a_poor_tilt_has_not_converged_but_is_unbiased(digits, monkeypatch):
    _, labels, matrix = digits(20)
    good = probability(matrix, 2 * labels - 1)
    monkeypatch.setattr(orthant, "_saddle_point", lambda lower: (*np.zeros((2, 20)), 1, 1.0))
    poor = probability(matrix, 2 * labels - 1, samples=200_000)
    assert not poor.converged
    assert poor.standard_error > good.standard_error
    assert within(poor, good.log_p, errors=5)


def test_a_singular_covariance_is_refused():
    with pytest.raises(FlatlasError, match="positive definite"):
        probability(np.ones((2, 2)), [1, 1])
