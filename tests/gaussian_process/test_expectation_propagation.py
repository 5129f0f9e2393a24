"""Expectation propagation against closed forms, GPy's EP and the functions of random nets."""

from itertools import product
from math import asin, exp, log, pi, sqrt

import numpy as np
import pytest
import torch

from flatlas.errors import FlatlasError
from flatlas.gaussian_process import expectation_propagation as ep
from flatlas.gaussian_process.expectation_propagation import expectation_propagation
from flatlas.gaussian_process.kernels import arc_cosine_kernel
from flatlas.gaussian_process.prior import latent_covariance
from flatlas.nets import build_net
from flatlas.nets.functions import count_functions, packed
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.initializations import ScaledNormal

# log Z of GPy 1.15's EP on the digits of conftest.py, sites one by one:
# EP(epsilon=1e-14, max_iters=500, parallel_updates=False).inference(None, X, likelihood, Y, K=K)
# with a Bernoulli likelihood, its link function Heaviside() or, by default, Probit().
GPY = {
    (100, "heaviside"): -35.9989563716394,
    (100, "probit"): -63.140950703273006,
    (600, "heaviside"): -112.27810842960758,
    (600, "probit"): -295.8865809292707,
}


def evidence(matrix, signs):
    [found] = expectation_propagation(torch.as_tensor(matrix), torch.as_tensor(signs)[None])
    return found


@pytest.mark.parametrize(("count", "link"), GPY)
def test_log_z_is_that_of_gpy(digits, count, link):
    _, labels, matrix = digits(count)
    found = evidence(latent_covariance(matrix, link), 2 * labels - 1)
    assert found.log_z == pytest.approx(GPY[count, link], rel=1e-8)
    assert found.converged
    assert found.residual < 1e-8
    assert found.jitter == 0


@pytest.mark.parametrize(
    ("rho", "error"), [(-0.8, 0.003), (-0.3, 0.003), (0.0, 1e-12), (0.5, 0.002), (0.95, 0.05)]
)
def test_the_probability_of_a_quadrant(rho, error):
    """P = 1/4 + arcsin ρ / 2π; EP's error grows with the correlation."""
    found = evidence([[1.0, rho], [rho, 1.0]], [1, 1])
    assert found.log_z == pytest.approx(log(0.25 + asin(rho) / (2 * pi)), abs=error)


def test_marginals_are_those_of_the_dense_inverse(digits):
    """Σ = (C⁻¹ + S)⁻¹ for sites that decide everything, that decide nothing, and in between."""
    _, labels, matrix = digits(300)
    signs = (2 * labels - 1).double()
    correlation = ep._correlation(matrix + 0.1 * torch.eye(300, dtype=torch.float64))
    precision = torch.logspace(-14, 4, 300, dtype=torch.float64)
    precision[7] = 0
    shift = torch.linspace(-1, 1, 300, dtype=torch.float64)
    marginals, log_determinant = ep._posterior(correlation, signs, torch.stack([precision, shift]))
    signed = correlation * signs * signs.unsqueeze(1)
    expected = torch.linalg.inv(torch.linalg.inv(signed) + precision.diag())
    torch.testing.assert_close(marginals.variance, expected.diagonal(), rtol=1e-9, atol=0)
    torch.testing.assert_close(marginals.mean, expected @ shift, rtol=1e-9, atol=1e-9)
    inside = torch.eye(300, dtype=torch.float64) + signed * precision
    assert log_determinant == pytest.approx(torch.logdet(inside).item(), rel=1e-11)


def test_the_scale_of_the_kernel_and_the_sign_of_the_function_do_not_matter(digits):
    _, labels, matrix = digits(80)
    signs = 2 * labels - 1
    scale = torch.logspace(-3, 3, 80, dtype=torch.float64)
    log_z = evidence(matrix, signs).log_z
    for covariance, pattern in (
        (1e4 * matrix, signs),
        (matrix * scale * scale.unsqueeze(1), signs),
        (matrix, -signs),
    ):
        assert evidence(covariance, pattern).log_z == pytest.approx(log_z, rel=1e-11)


def test_functions_with_one_kernel_are_independent_and_computed_once(digits, monkeypatch):
    _, labels, matrix = digits(60)
    given = matrix.clone()
    one = 2 * labels - 1
    signs = torch.stack([one, torch.ones_like(labels), -one.flip(0), one])
    expected = [evidence(matrix, row) for row in signs]
    computed, compute = [], ep._evidence
    monkeypatch.setattr(ep, "_evidence", lambda *given: computed.append(given) or compute(*given))
    assert expectation_propagation(matrix, signs) == expected
    assert len(computed) == 3
    assert torch.equal(matrix, given)


def test_damping_grows_if_sweeps_do_not_improve(digits, monkeypatch):
    """Overshooting updates never settle; the fixed point does not depend on the damping."""
    _, labels, matrix = digits(100)
    monkeypatch.setattr(ep, "DAMPING", 1.9)
    found = evidence(latent_covariance(matrix, "probit"), 2 * labels - 1)
    assert found.converged
    assert found.damping < 1.9
    assert found.log_z == pytest.approx(GPY[100, "probit"], rel=1e-8)


@pytest.mark.parametrize("rho", [0.99, 0.999])
def test_extrapolations_that_diverge_are_not_repeated(rho, monkeypatch):
    """A constant function of like images; damped sweeps alone find the same, in twice as many."""
    matrix = torch.full((60, 60), rho, dtype=torch.float64).fill_diagonal_(1)
    found = evidence(matrix, torch.ones(60))
    monkeypatch.setattr(ep, "NEAR", 0)
    damped = evidence(matrix, torch.ones(60))
    assert found.converged
    assert damped.converged
    assert found.sweeps < damped.sweeps
    assert found.log_z == pytest.approx(damped.log_z, abs=1e-5)


def test_without_enough_sweeps_it_has_not_converged(digits, monkeypatch):
    _, labels, matrix = digits(100)
    monkeypatch.setattr(ep, "SWEEPS", 3)
    found = evidence(matrix, 2 * labels - 1)
    assert (found.converged, found.sweeps) == (False, 3)
    assert found.residual > 1e-8


def test_jitter_is_added_only_to_matrices_that_are_not_positive():
    """The third variable is the difference of the first two, up to an error."""
    a, b = np.random.default_rng(0).normal(size=(2, 40))
    rows = np.stack([a, b, a - b])
    singular = rows @ rows.T / 40
    assert evidence(singular, [1, -1, 1]).jitter == 0
    assert 0 < evidence(singular - 1e-5 * np.eye(3), [1, -1, -1]).jitter <= 1e-4
    with pytest.raises(FlatlasError, match="covariance"):
        evidence(singular - 0.2 * np.eye(3), [1, -1, -1])


def test_an_impossible_pattern_needs_jitter():
    """One variable cannot have two signs; with a little noise it rarely has."""
    found = evidence([[1.0, 1.0], [1.0, 1.0]], [1, -1])
    assert 0 < found.jitter <= 1e-6
    rho = 1 / (1 + found.jitter)
    assert found.log_z == pytest.approx(log(0.25 - asin(rho) / (2 * pi)), abs=0.3)


DRAWS = 20_000
INIT = ScaledNormal(scheme="scaled_normal", weight_std=1.0, bias_std=0.1)


def test_the_commonest_functions_are_as_likely_as_ep_says():
    """The input of zeros has only the variance of the biases, and K is still regular."""
    spec = DenseNet(family="dense", hidden=(200, 200), bias=True, init=INIT)
    net = build_net(spec, (1, 1, 3), 1)
    inputs = torch.tensor([*product([0.0, 1.0], repeat=3)])[:, None, None]
    counts = count_functions(net, inputs, DRAWS, lambda *steps, **facts: None).most_common(20)
    labels = torch.tensor([*product([0, 1], repeat=8)])
    by_name = dict(zip(packed(labels), labels, strict=True))
    functions = torch.stack([by_name[name] for name, _ in counts])
    matrix = arc_cosine_kernel(net)(inputs.double().flatten(1)).to_dense()
    evidences = expectation_propagation(matrix, 2 * functions - 1)
    assert all(one.converged for one in evidences)
    for (name, count), one in zip(counts, evidences, strict=True):
        likely = exp(one.log_z)
        chance = 4 * sqrt(likely * (1 - likely) / DRAWS)
        assert count / DRAWS == pytest.approx(likely, abs=chance + 0.1 * likely), name
    # The two constants are by far the likeliest, by EP as by counting.
    likeliest = sorted(zip(evidences, counts, strict=True), key=lambda pair: -pair[0].log_z)[:2]
    assert {name for _, (name, _) in likeliest} == {b"\x00", b"\xff"}
