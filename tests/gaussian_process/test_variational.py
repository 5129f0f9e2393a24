"""The variational bound: one image by hand, and below the probability for more."""

from math import log, pi, sqrt

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import log_ndtr

from flatlas.gaussian_process import variational
from flatlas.gaussian_process.kernels import ArcCosineKernel
from flatlas.gaussian_process.orthant import orthant_probability
from flatlas.gaussian_process.prior import latent_covariance
from flatlas.gaussian_process.variational import variational_bound


@pytest.mark.parametrize("label", [0, 1])
def test_the_bound_of_one_image(label):
    """max over m, s of E[log Φ(m + s z)] - KL(N(m, s²), N(0, k)), by quadrature."""
    pixels, kernel = torch.tensor([[0.9, 0.3]]).double(), ArcCosineKernel(1, 2.0, 1.0)
    k = kernel(pixels).to_dense().item()

    nodes, weights = np.polynomial.hermite_e.hermegauss(100)

    def lost(point):
        m, s = point[0], np.exp(point[1])
        fit = weights @ log_ndtr(m + s * nodes) / sqrt(2 * pi)
        return (m**2 + s**2) / (2 * k) - 0.5 - point[1] + log(k) / 2 - fit

    best = -minimize(lost, [0, 0], tol=1e-10).fun
    found = variational_bound(kernel, pixels, torch.tensor([label]))
    assert found.converged
    assert found.log_p == pytest.approx(best, rel=1e-5)
    assert found.log_p < log(0.5)


def test_the_bound_is_below_the_probability(digits):
    for count in (5, 60):
        pixels, labels, matrix = digits(count)
        found = variational_bound(ArcCosineKernel(2, 2.0, 1.0), pixels, labels)
        noisy, signs = latent_covariance(matrix, "probit").numpy(), (2 * labels - 1).numpy()
        exact = orthant_probability(noisy, signs, 100_000, np.random.default_rng(0))
        assert found.converged
        assert found.log_p <= exact.log_p + 2 * exact.standard_error
        assert found.log_p == pytest.approx(exact.log_p, abs=sqrt(count) / 20)


def test_without_enough_steps_it_has_not_converged(digits, monkeypatch):
    pixels, labels, _ = digits(20)
    monkeypatch.setattr(variational, "STEPS", 2)
    found = variational_bound(ArcCosineKernel(2, 2.0, 1.0), pixels, labels)
    assert (found.converged, found.iterations) == (False, 2)
    assert found.residual > 1e-9
