"""The prior of functions: the two links, and images that are given more than once."""

from math import inf, log

import numpy as np
import pytest
import torch

from flatlas.gaussian_process.duplicates import contradictions, first_of_equals
from flatlas.gaussian_process.orthant import orthant_probability
from flatlas.gaussian_process.prior import latent_covariance, log_prior


def test_the_first_of_equal_images():
    images = torch.tensor([[3.0, 0], [1, 1], [3, 0], [0, 3], [1, 1], [3, 0]]).reshape(6, 1, 1, 2)
    assert first_of_equals(images).tolist() == [0, 1, 0, 3, 1, 0]
    nearly = images.double() + 1e-12 * torch.arange(6).reshape(6, 1, 1, 1)
    assert first_of_equals(nearly).tolist() == [0, 1, 2, 3, 4, 5]


def test_contradictions_are_named_by_position():
    first = torch.tensor([0, 1, 0, 3, 1, 0])
    assert contradictions(first, torch.tensor([1, 0, 1, 0, 0, 1])) == ()
    assert contradictions(first, torch.tensor([1, 0, 0, 0, 1, 1])) == ((0, 2), (1, 4))


def test_the_probit_link_is_a_hard_sign_with_noise(digits):
    """Φ(f) = P(f + noise > 0), so the mean of Π Φ(s_i f_i) is the same probability."""
    _, labels, matrix = digits(4)
    signs = (2 * labels - 1).numpy()
    draws = np.random.default_rng(0).multivariate_normal(np.zeros(4), matrix.numpy(), 400_000)
    noisy = latent_covariance(matrix, "probit").numpy()
    direct = np.exp(_log_cdf(draws * signs).sum(1)).mean()
    found = orthant_probability(noisy, signs, 50_000, np.random.default_rng(1))
    assert found.log_p == pytest.approx(log(direct), abs=0.01)


def _log_cdf(values):
    return torch.special.log_ndtr(torch.as_tensor(values)).numpy()


@pytest.fixture
def twice(digits):
    """50 digits, the first 20 of them a second time."""
    pixels, labels, matrix = digits(50)
    positions = torch.cat([torch.arange(50), torch.arange(20)])
    return first_of_equals(pixels[positions]), labels[positions], matrix[positions][:, positions]


def test_equal_images_say_nothing_new_under_a_hard_sign(digits, twice):
    first, labels, matrix = twice
    _, once, alone = digits(50)
    [expected] = log_prior(alone, once[None], "heaviside", torch.arange(50))
    [found] = log_prior(matrix, labels[None], "heaviside", first)
    assert found.evidence == expected.evidence
    assert (found.points, found.merged) == (50, 20)
    # What EP makes of them when they are not merged.
    [wrong] = log_prior(matrix, labels[None], "heaviside", torch.arange(70))
    assert wrong.evidence.log_z < found.evidence.log_z - 0.5


def test_equal_images_have_noises_of_their_own_under_the_probit_link(twice):
    """They stay, and EP is as right as elsewhere: minimax tilting agrees."""
    first, labels, matrix = twice
    [found] = log_prior(matrix, labels[None], "probit", first)
    assert (found.points, found.merged) == (70, 0)
    exact = orthant_probability(
        latent_covariance(matrix, "probit").numpy(),
        (2 * labels - 1).numpy(),
        50_000,
        np.random.default_rng(0),
    )
    assert exact.standard_error < 0.005
    assert found.evidence.log_z == pytest.approx(exact.log_p, abs=0.02)


def test_a_function_that_contradicts_itself_is_impossible(twice):
    first, labels, matrix = twice
    absurd = labels.clone()
    absurd[[53, 60]] = 1 - absurd[[53, 60]]
    functions = torch.stack([labels, absurd, 1 - labels])
    before, impossible, after = log_prior(matrix, functions, "heaviside", first)
    assert impossible.evidence.log_z == -inf
    assert impossible.contradictions == ((3, 53), (10, 60))
    assert before.contradictions == after.contradictions == ()
    assert before.evidence.log_z == pytest.approx(after.evidence.log_z, rel=1e-11)
    # Under the probit link noise can explain it.
    [noisy] = log_prior(matrix, absurd[None], "probit", first)
    assert noisy.contradictions == ()
    assert noisy.evidence.log_z > -inf
