"""The bound from log P(f): a single function, and thresholds, of which all is known."""

from math import inf, log, nan

import numpy as np
import pytest
from scipy.stats import beta

from flatlas.errors import FlatlasError
from flatlas.gaussian_process.bound import error_bound


@pytest.mark.parametrize("examples", [1, 30, 1000])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_for_one_function_it_is_the_exact_interval(examples, confidence):
    """The interval is that of Clopper and Pearson, for a function that has made no mistake."""
    exact = beta.ppf(confidence, 1, examples)
    assert error_bound(0.0, examples, confidence) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("sharpness", [1.0, 4.0])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_thresholds_exceed_it_as_seldom_as_it_says(sharpness, noise):
    """x < t with t^sharpness uniform, labelled by t = 0.3: P(C) and the mean error are known."""
    random = np.random.default_rng(0)
    examples, draws, confidence, true = 20, 1000, 0.8, 0.3
    x = random.random((draws, examples))
    labels = (x < true) != (random.random(x.shape) < noise)
    below = np.where(labels, x, 0.0).max(1)
    above = np.where(labels, 1.0, x).min(1)
    # On a fine grid of thresholds with their prior.
    t = (np.arange(5000) + 0.5) / 5000
    prior = sharpness * t ** (sharpness - 1) / 5000
    within = (t > below[:, None]) & (t <= above[:, None])
    weights = within * prior
    p = weights.sum(1)
    kept = p > 0
    errors = (weights * (noise + (1 - 2 * noise) * np.abs(t - true))).sum(1)[kept] / p[kept]
    bounds = np.array([error_bound(log(one), examples, confidence) for one in p[kept]])
    # The bound does not apply to samples that no threshold fits.
    assert (errors > bounds).sum() / draws < 1 - confidence
    # The bound is not trivial.
    assert np.median(bounds) < 0.5


def test_nothing_is_known_of_a_function_without_probability():
    assert error_bound(-inf, 10) == 1.0
    assert error_bound(-1e6, 10) == 1.0


@pytest.mark.parametrize("given", [(1.0, 10), (nan, 10), (-1.0, 0), (-1.0, 10, 1.0)])
def test_what_is_no_probability_is_refused(given):
    with pytest.raises(FlatlasError, match="Allowed"):
        error_bound(*given)
