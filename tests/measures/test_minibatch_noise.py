"""The noise of minibatch gradients against automatic differentiation and sampling theory."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from solutions import along, layer_hessian, make_solution
from torch.autograd.functional import jacobian

from flatlas.measures import measure
from flatlas.seeds import generator


def noise_of(solution, layer="fc2", batch=8, minibatches=50):
    options = {"layer": layer, "batch": batch, "minibatches": minibatches}
    return measure("minibatch_noise", solution, options)["directions"]


def directions_of(solution, layer):
    """Eigenvalues and eigenvectors of the Hessian by autograd, descending."""
    eigenvalues, vectors = np.linalg.eigh(layer_hessian(solution, layer).numpy())
    return eigenvalues[::-1], vectors[:, ::-1]


def components_of(solution, layer, vectors):
    """The components of each image's gradient along the directions (images, n)."""
    return jacobian(*along(solution, layer), vectorize=True).numpy() @ vectors


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    ("net", "layer"), [("two_hidden", "fc2"), ("biases", "fc2"), ("convolutional", "fc3")]
)
def test_minibatch_by_minibatch(net, layer, outputs):
    """Each learner's gradients at its weights, by autograd of the losses of each image."""
    solution = make_solution(net, outputs, images=60, seed=4, learners=3)
    rows = noise_of(solution, layer, batch=8, minibatches=20)
    eigenvalues, vectors = directions_of(solution, layer)
    random = generator(4, "minibatch noise")
    components = []
    for learner in range(3):
        weights = {name: w[learner : learner + 1] for name, w in solution.learners.items()}
        of_images = components_of(replace(solution, parameters=weights), layer, vectors)
        drawn = [random.choice(60, 8, replace=False) for _ in range(20)]
        components.append([of_images[images].mean(0) for images in drawn])
    components = np.array(components)
    # Where eigenvalues coincide, directions among them are arbitrary.
    falls = -np.diff(eigenvalues, prepend=np.inf, append=-np.inf)
    distinct = np.minimum(falls[:-1], falls[1:]) > 1e-7
    assert distinct.sum() >= 3
    noise = components.reshape(60, -1).std(0, ddof=1)
    noise_of_mean = components.mean(0).std(0, ddof=1)
    np.testing.assert_array_equal(rows["n"], np.arange(1, len(eigenvalues) + 1))
    np.testing.assert_allclose(rows["eigenvalue"], eigenvalues, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows["noise"][distinct], noise[distinct], rtol=1e-6)
    np.testing.assert_allclose(rows["noise_of_mean"][distinct], noise_of_mean[distinct], rtol=1e-6)


@pytest.mark.parametrize("batch", [1, 10, 30])
def test_the_variance_is_that_of_a_sample_from_a_finite_population(batch):
    """Δ_n² = Var_k / B · (N − B) / (N − 1), within five standard errors of many minibatches."""
    solution, minibatches = make_solution("one_hidden"), 4000
    rows = noise_of(solution, batch=batch, minibatches=minibatches)
    components = components_of(solution, "fc2", directions_of(solution, "fc2")[1])
    expected = components.var(0) / batch * (40 - batch) / 39
    live = expected > 1e-12 * expected.max()
    # The variance of a sample variance; a single image's components have heavier tails.
    kurtosis = ((components - components.mean(0)) ** 4).mean(0)[live] / components.var(0)[live] ** 2
    spread = np.sqrt((np.maximum(kurtosis, 3) - 1) / minibatches)
    assert live.sum() >= 12
    assert (np.abs(rows["noise"][live] ** 2 / expected[live] - 1) < 5 * spread).all()


def test_learners_of_equal_weights_are_one_learner_that_draws_more():
    """SSGD's noise differs from one learner's only because the mean has a larger batch."""
    solution = make_solution("two_hidden")
    same = {name: w.expand(4, *w.shape[1:]) for name, w in solution.parameters.items()}
    rows = noise_of(replace(solution, learners=same), minibatches=500)
    alone = noise_of(solution, minibatches=2000)
    np.testing.assert_allclose(rows["noise"], alone["noise"], rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(alone["noise_of_mean"], alone["noise"])
    live = rows["noise"] > 1e-9
    ratio = rows["noise_of_mean"][live] / rows["noise"][live]
    np.testing.assert_allclose(ratio, 0.5, rtol=0.2)


def test_distances_between_learners_add_noise_along_the_curvature():
    """δg_j = H δW_j (§2.5); minibatches of all images add nothing else.

    Learners a little apart along one direction have the noise H_n |δW| there and none elsewhere.
    """
    solution = make_solution("two_hidden")
    eigenvalues, vectors = directions_of(solution, "fc2")
    apart = 1e-6
    for n in (0, 4):
        step = apart * torch.tensor(vectors[:, n].copy()).reshape(1, 9, 6)
        weight = solution.parameters["fc2.weight"]
        both = {name: w.expand(2, *w.shape[1:]) for name, w in solution.parameters.items()}
        both["fc2.weight"] = torch.cat([weight - step, weight + step])
        rows = noise_of(replace(solution, learners=both), batch=40, minibatches=500)
        expected = np.zeros(54)
        expected[n] = eigenvalues[n] * apart
        np.testing.assert_allclose(rows["noise"], expected, rtol=2e-3, atol=1e-3 * expected[n])
        assert rows["noise_of_mean"].max() < 1e-3 * expected[n]
