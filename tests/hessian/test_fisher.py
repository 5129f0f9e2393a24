"""Natural gradients against an explicit Fisher matrix, and what no α-scaling may change."""

import pytest
import torch
from hessian_systems import system

from flatlas.hessian import fisher
from flatlas.hessian.fisher import DecomposedFisher, FreeFisher, fisher_of
from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.nets.rescaling import rescaled


def mild(name, outputs, images):
    """With weights so small that no prediction is certain."""
    net, parameters, inputs, labels = system(name, outputs, images)
    return net, {key: 0.5 * tensor for key, tensor in parameters.items()}, inputs, labels


def assert_close(found, expected, share):
    """To a share of the largest: products of different minibatches may be 0."""
    assert (found - expected).abs().max() <= share * expected.abs().max()


def gradients(net, parameters, inputs, labels, count=3):
    """Of the mean loss on every third image, from each of the first ones on."""
    (w,) = flattened(net, parameters)
    some = [torch.arange(first, inputs.shape[1], 3) for first in range(count)]
    loss = MeanLoss(net, inputs, labels)
    return torch.stack([torch.func.grad(loss.of(images))(w) for images in some])


def explicit(net, parameters, inputs):
    """⟨Σ_c p_c ∇ln p_c ∇ln p_cᵀ⟩, with every label in turn on every image."""
    (w,) = flattened(net, parameters)
    found = w.new_zeros(len(w), len(w))
    for image in range(inputs.shape[1]):
        for label in range(max(net.outputs, 2)):
            labels = torch.tensor([[label]])
            loss = MeanLoss(net, inputs[:, image : image + 1], labels)
            score = torch.func.grad(loss)(w)
            found += torch.exp(-loss(w)) * torch.outer(score, score)
    return found / inputs.shape[1]


def free_of(net, parameters, inputs, monkeypatch):
    monkeypatch.setattr(fisher, "NUMBERS", 0)
    found = fisher_of(net, parameters, inputs)
    assert isinstance(found, FreeFisher)
    return found


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", ["logistic", "two_hidden", "pooled"])
def test_the_product_is_that_of_the_explicit_matrix(name, outputs, monkeypatch):
    net, parameters, inputs, _ = system(name, outputs, images=8)
    matrix = explicit(net, parameters, inputs)
    vectors = torch.randn(2, len(matrix), dtype=torch.float64)
    found = free_of(net, parameters, inputs, monkeypatch).product(vectors)
    torch.testing.assert_close(found, vectors @ matrix, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("damping", [0.1, 10.0])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("name", "images"), [("two_hidden", 12), ("logistic", 30)])
def test_a_natural_gradient_is_an_explicit_solve(name, images, free, damping, monkeypatch):
    """Whether there are more parameters than rows, or fewer (30 images times 3, 111 weights)."""
    given = mild(name, 3, images)
    net, parameters, inputs, _ = given
    g = gradients(*given)
    if free:
        monkeypatch.setattr(fisher, "NUMBERS", 0)
    found = fisher_of(net, parameters, inputs).solve(g, damping)
    matrix = explicit(net, parameters, inputs)
    # A weight on which no prediction depends is left as it is.
    live = matrix.diagonal() > 0
    matrix = matrix[live][:, live]
    expected = torch.linalg.solve(matrix + damping * matrix.diagonal().diag(), g[:, live].T).T
    assert found.converged
    assert not found.x[:, ~live].any()
    assert_close(found.x[:, live], expected, 1e-6)


@pytest.mark.parametrize("outputs", [1, 3])
def test_without_damping_it_is_the_pseudo_inverse(outputs):
    """gᵀ F⁺ g by NumPy's pseudo-inverse: the parametrization does not matter on F's range."""
    given = mild("two_hidden", outputs, 9)
    net, parameters, inputs, _ = given
    g = gradients(*given)
    found = fisher_of(net, parameters, inputs).solve(g, 0.0)
    inverse = torch.linalg.pinv(explicit(net, parameters, inputs), rtol=1e-11, hermitian=True)
    assert found.converged
    assert_close(g @ found.x.T, g @ inverse @ g.T, 1e-6)


def test_without_damping_each_prediction_moves_on_its_own():
    """With more weights than images gᵀ F⁺ g is that of independent logits, whatever the net.

    Of a minibatch B it is (n/|B|²) Σ (1 − q)/q, with q the probability of each true label; without
    an image in common, two minibatches are at right angles.
    """
    given = mild("two_hidden", 1, 12)
    net, parameters, inputs, labels = given
    g = gradients(*given)
    products = g @ fisher_of(net, parameters, inputs).solve(g, 0.0).x.T
    z = net.forward(parameters, inputs).flatten()
    q = torch.where(labels[0] == 1, z.sigmoid(), (-z).sigmoid())
    expected = [12 / 16 * ((1 - q) / q)[first::3].sum() for first in range(3)]
    assert_close(products, torch.stack(expected).diag(), 1e-8)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_norms_are_those_of_the_function(damping, free, monkeypatch):
    """Under an α-scaling, and under one of each neuron by its own factor; g itself is another."""
    given = mild("two_hidden", 3, 8)
    net, parameters, inputs, labels = given
    if free:
        monkeypatch.setattr(fisher, "NUMBERS", 0)
    products = []
    for factor in (1.0, 5.9, torch.linspace(0.2, 3, 7, dtype=torch.float64)):
        scaled = rescaled(net, parameters, "fc1", factor)
        g = gradients(net, scaled, inputs, labels)
        products.append((g @ fisher_of(net, scaled, inputs).solve(g, damping).x.T, g @ g.T))
    (one, plain), *others = products
    for other, changed in others:
        assert_close(other, one, 1e-6)
        assert not torch.allclose(changed, plain, rtol=0.1)


def test_a_search_that_is_cut_short_says_so(monkeypatch):
    given = system("pooled", 3, images=12)
    monkeypatch.setattr(fisher, "ITERATIONS", 2)
    found = free_of(*given[:3], monkeypatch).solve(gradients(*given), 0.01)
    assert (found.iterations, found.converged) == (2, False)
    assert found.residual > 1e-6


def test_small_nets_are_decomposed():
    assert isinstance(fisher_of(*system("pooled", 3)[:3]), DecomposedFisher)
