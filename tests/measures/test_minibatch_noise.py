"""The noise of minibatch gradients against automatic differentiation and sampling theory."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from flatlas.errors import FlatlasError
from flatlas.measures import measure
from flatlas.nets.loss import sample_losses
from flatlas.seeds import generator


def noise_of(solution, layer="fc2", batch=8, minibatches=50):
    options = {"layer": layer, "batch": batch, "minibatches": minibatches}
    return measure("minibatch_noise", solution, options)["directions"]


def mean_loss(solution, layer, weights, images=slice(None)):
    """The mean loss of some images as a function of the layer's flattened weights."""
    name = f"{layer}.weight"

    def loss(flat):
        changed = {**weights, name: flat.reshape(weights[name].shape)}
        logits = solution.net.forward(changed, solution.inputs[:, images])
        return sample_losses(logits, solution.labels[:, images]).mean()

    return loss, weights[f"{layer}.weight"].flatten()


def directions_of(solution, layer):
    """Eigenvalues and eigenvectors of the Hessian by autograd, descending."""
    loss, weights = mean_loss(solution, layer, solution.parameters)
    matrix = torch.autograd.functional.hessian(loss, weights).numpy()
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return eigenvalues[::-1], vectors[:, ::-1]


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    ("net", "layer"), [("two_hidden", "fc2"), ("biases", "fc2"), ("convolutional", "fc3")]
)
def test_minibatch_by_minibatch(make_solution, net, layer, outputs):
    """Each learner's gradients at its own weights, by autograd of the loss of each minibatch."""
    solution = make_solution(net, outputs, images=60, seed=4, learners=3)
    rows = noise_of(solution, layer, batch=8, minibatches=20)
    eigenvalues, vectors = directions_of(solution, layer)
    random = generator(4, "minibatch noise")
    components = []
    for learner in range(3):
        weights = {name: w[learner : learner + 1] for name, w in solution.learners.items()}
        for _ in range(20):
            images = random.choice(60, 8, replace=False)
            loss, at = mean_loss(solution, layer, weights, images)
            components.append(torch.autograd.functional.jacobian(loss, at).numpy() @ vectors)
    components = np.array(components)
    # Where eigenvalues coincide, directions among them are arbitrary.
    falls = -np.diff(eigenvalues, prepend=np.inf, append=-np.inf)
    own = np.minimum(falls[:-1], falls[1:]) > 1e-7
    assert own.sum() >= 3
    mean = components.reshape(3, 20, -1).mean(0)
    np.testing.assert_array_equal(rows["n"], np.arange(1, len(eigenvalues) + 1))
    np.testing.assert_allclose(rows["eigenvalue"], eigenvalues, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows["noise"][own], components.std(0, ddof=1)[own], rtol=1e-6)
    np.testing.assert_allclose(rows["noise_of_mean"][own], mean.std(0, ddof=1)[own], rtol=1e-6)


def image_components(solution, layer):
    """The components of each image's own gradient along the directions (images, n)."""
    _, vectors = directions_of(solution, layer)
    loss = [mean_loss(solution, layer, solution.parameters, [k])[0] for k in range(40)]
    weights = solution.parameters[f"{layer}.weight"].flatten()
    gradients = [torch.autograd.functional.jacobian(one, weights) for one in loss]
    return torch.stack(gradients).numpy() @ vectors


@pytest.mark.parametrize("batch", [1, 10, 30])
def test_the_variance_is_that_of_a_sample_from_a_finite_population(make_solution, batch):
    """Δ_n² = Var_k / B · (N − B) / (N − 1), within five standard errors of many minibatches."""
    solution, minibatches = make_solution("one_hidden"), 4000
    rows = noise_of(solution, batch=batch, minibatches=minibatches)
    components = image_components(solution, "fc2")
    expected = components.var(0) / batch * (40 - batch) / 39
    live = expected > 1e-12 * expected.max()
    # The variance of a sample variance; a single image's components have the heavier tails.
    kurtosis = ((components - components.mean(0)) ** 4).mean(0)[live] / components.var(0)[live] ** 2
    spread = np.sqrt((np.maximum(kurtosis, 3) - 1) / minibatches)
    assert live.sum() >= 12
    assert (np.abs(rows["noise"][live] ** 2 / expected[live] - 1) < 5 * spread).all()


def test_a_minibatch_of_all_images_has_no_noise(make_solution):
    rows = noise_of(make_solution("two_hidden"), batch=40)
    assert rows["noise"].max() < 1e-14


def test_learners_of_equal_weights_are_one_learner_that_draws_more(make_solution):
    """So SSGD's noise has nothing of its learners but that their mean has a larger batch."""
    solution = make_solution("two_hidden")
    same = {name: w.expand(4, *w.shape[1:]) for name, w in solution.parameters.items()}
    rows = noise_of(replace(solution, learners=same), minibatches=500)
    alone = noise_of(solution, minibatches=2000)
    np.testing.assert_allclose(rows["noise"], alone["noise"], rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(alone["noise_of_mean"], alone["noise"])
    live = rows["noise"] > 1e-9
    ratio = rows["noise_of_mean"][live] / rows["noise"][live]
    np.testing.assert_allclose(ratio, 0.5, rtol=0.2)


def test_learners_apart_add_noise_along_the_curvature(make_solution):
    """δg_j = H δW_j (§2.5), and with minibatches of all images nothing else is left.

    So learners that are a little apart, along one direction, have the noise H_n |δW| there and
    none elsewhere.
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


def test_more_images_than_there_are_can_not_be_drawn(make_solution):
    with pytest.raises(FlatlasError, match=r"minibatches of 41 images .* may be 40 at most"):
        noise_of(make_solution("two_hidden"), batch=41)
