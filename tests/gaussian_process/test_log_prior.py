"""The prior of functions: the two links, and images that appear more than once."""

from math import inf, log

import numpy as np
import pytest
import torch
from scipy.special import ndtr

from flatlas.gaussian_process.duplicates import contradictions, first_of_equals
from flatlas.gaussian_process.orthant import orthant_probability
from flatlas.gaussian_process.prior import latent_covariance, log_prior


def test_contradictions_are_named_by_the_positions_of_equal_images():
    images = torch.tensor([[3.0, 0], [1, 1], [3, 0], [0, 3], [1, 1], [3, 0]]).reshape(6, 1, 1, 2)
    first = first_of_equals(images)
    assert first.tolist() == [0, 1, 0, 3, 1, 0]
    nearly = images.double() + 1e-12 * torch.arange(6).reshape(6, 1, 1, 1)
    assert first_of_equals(nearly).tolist() == [0, 1, 2, 3, 4, 5]
    assert contradictions(first, torch.tensor([1, 0, 1, 0, 0, 1])) == ()
    assert contradictions(first, torch.tensor([1, 0, 0, 0, 1, 1])) == ((0, 2), (1, 4))


def tilted(matrix, labels):
    """The exact probability under the probit link, by minimax tilting."""
    noisy, signs = latent_covariance(matrix, "probit").numpy(), (2 * labels - 1).numpy()
    return orthant_probability(noisy, signs, 50_000, np.random.default_rng(0))


def test_the_probit_link_is_a_hard_sign_with_noise(digits):
    """Φ(f) = P(f + noise > 0), so the mean of Π Φ(s_i f_i) is the same probability."""
    _, labels, matrix = digits(4)
    signs = (2 * labels - 1).numpy()
    draws = np.random.default_rng(0).multivariate_normal(np.zeros(4), matrix.numpy(), 400_000)
    direct = ndtr(draws * signs).prod(1).mean()
    assert tilted(matrix, labels).log_p == pytest.approx(log(direct), abs=0.01)


@pytest.fixture
def twice(digits):
    """50 digits, the first 20 of them a second time."""
    pixels, labels, matrix = digits(50)
    positions = torch.cat([torch.arange(50), torch.arange(20)])
    return first_of_equals(pixels[positions]), labels[positions], matrix[positions][:, positions]


def test_equal_images_are_merged_under_a_hard_sign(digits, twice):
    first, labels, matrix = twice
    _, once, alone = digits(50)
    [expected] = log_prior(alone, once[None], "heaviside", torch.arange(50))
    [found] = log_prior(matrix, labels[None], "heaviside", first)
    assert found.evidence == expected.evidence
    assert (found.points, found.merged) == (50, 20)
    # EP is wrong if they are not merged.
    [wrong] = log_prior(matrix, labels[None], "heaviside", torch.arange(70))
    assert wrong.evidence.log_z < found.evidence.log_z - 0.5


def test_equal_images_have_separate_noise_under_the_probit_link(twice):
    """They are not merged, and EP agrees with minimax tilting."""
    first, labels, matrix = twice
    [found] = log_prior(matrix, labels[None], "probit", first)
    assert (found.points, found.merged) == (70, 0)
    exact = tilted(matrix, labels)
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
