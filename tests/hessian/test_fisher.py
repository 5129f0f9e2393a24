"""Natural gradients against an explicit Fisher matrix, and their invariance under α-scalings."""

import pytest
import torch
from hessian_systems import seeded, system
from torch import nn

from flatlas.hessian import natural
from flatlas.hessian.fisher import VECTORS, FreeFisher, fisher_of
from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.hessian.natural import DecomposedFisher
from flatlas.nets.modules import ModuleNet
from flatlas.nets.rescaling import rescaled


def mild(name, outputs, images):
    """A system with weights so small that no prediction is certain."""
    net, parameters, inputs, labels = system(name, outputs, images)
    return net, {key: 0.5 * tensor for key, tensor in parameters.items()}, inputs, labels


def assert_close(found, expected, share):
    """Close to a share of the largest: products of different minibatches may be 0."""
    assert (found - expected).abs().max() <= share * expected.abs().max()


def gradients(net, parameters, inputs, labels, count=3):
    """Gradients of the mean loss on every third image, beginning with each of the first ones."""
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


@pytest.fixture(params=[False, True], ids=["decomposed", "free"])
def free(request, monkeypatch):
    """Whether the Fisher matrix is too large for a decomposition."""
    if request.param:
        monkeypatch.setattr(natural, "NUMBERS", 0)
    return request.param


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", ["logistic", "biases", "convolutional"])
def test_the_product_is_that_of_the_explicit_matrix(name, outputs, monkeypatch):
    net, parameters, inputs, _ = system(name, outputs, images=8)
    assert isinstance(fisher_of(net, parameters, inputs), DecomposedFisher)
    matrix = explicit(net, parameters, inputs)
    vectors = torch.randn(2, len(matrix), dtype=torch.float64)
    monkeypatch.setattr(natural, "NUMBERS", 0)
    found = fisher_of(net, parameters, inputs)
    assert isinstance(found, FreeFisher)
    torch.testing.assert_close(found.product(vectors), vectors @ matrix, rtol=1e-9, atol=1e-11)


def test_a_module_sees_as_many_images_as_its_memory_allows(monkeypatch):
    """Vectors side by side have their images in memory at once."""
    seen = []

    class Watched(nn.Sequential):
        def forward(self, images):
            seen.append(len(images))
            return super().forward(images)

    def made():
        return Watched(nn.Flatten(), nn.Linear(16, 3))

    net = ModuleNet(made, (1, 4, 4), 3)
    monkeypatch.setattr(net, "at_once", lambda device: 4 * VECTORS)
    monkeypatch.setattr(natural, "NUMBERS", 0)
    images = torch.randn(1, 10, 1, 4, 4, dtype=torch.float64, generator=seeded(0))
    parameters = {name: value.double() for name, value in net.initial(range(1)).items()}
    found = fisher_of(net, parameters, images)
    seen.clear()
    product = found.product(torch.eye(51, dtype=torch.float64))
    assert max(seen) == 4
    torch.testing.assert_close(product, explicit(net, parameters, images), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("damping", [0.1, 10.0])
@pytest.mark.parametrize(("name", "images"), [("biases", 12), ("logistic", 38)])
def test_a_natural_gradient_is_an_explicit_solve(name, images, free, damping):
    """There are more parameters than rows, or fewer (38 images times 3 rows, 111 weights)."""
    given = mild(name, 3, images)
    net, parameters, inputs, _ = given
    g = gradients(*given)
    found = fisher_of(net, parameters, inputs).solve(g, damping)
    matrix = explicit(net, parameters, inputs)
    # A weight on which no prediction depends does not change.
    live = matrix.diagonal() > 0
    matrix = matrix[live][:, live]
    expected = torch.linalg.solve(matrix + damping * matrix.diagonal().diag(), g[:, live].T).T
    assert found.converged
    assert not found.x[:, ~live].any()
    assert_close(found.x[:, live], expected, 1e-6)


@pytest.mark.parametrize("outputs", [1, 3])
def test_without_damping_the_solution_is_that_of_the_pseudo_inverse(outputs):
    """gᵀ F⁺ g by NumPy's pseudo-inverse: the parametrization does not matter on F's range."""
    given = mild("biases", outputs, 9)
    net, parameters, inputs, _ = given
    g = gradients(*given)
    found = fisher_of(net, parameters, inputs).solve(g, 0.0)
    inverse = torch.linalg.pinv(explicit(net, parameters, inputs), rtol=1e-11, hermitian=True)
    assert found.converged
    assert_close(g @ found.x.T, g @ inverse @ g.T, 1e-6)


@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_an_alpha_scaling_changes_gradients_but_not_their_natural_norms(damping, free):
    """Also with a separate factor for each neuron."""
    net, parameters, inputs, labels = mild("biases", 3, 8)
    products = []
    for factor in (1.0, 5.9, torch.linspace(0.2, 3, 8, dtype=torch.float64)):
        scaled = rescaled(net, parameters, "fc1", factor)
        g = gradients(net, scaled, inputs, labels)
        products.append((g @ fisher_of(net, scaled, inputs).solve(g, damping).x.T, g @ g.T))
    (one, plain), *others = products
    for other, changed in others:
        assert_close(other, one, 1e-6)
        assert not torch.allclose(changed, plain, rtol=0.1)


def test_a_search_without_enough_iterations_has_not_converged(monkeypatch):
    given = system("convolutional", 3, images=12)
    monkeypatch.setattr(natural, "NUMBERS", 0)
    monkeypatch.setattr(natural, "ITERATIONS", 2)
    found = fisher_of(*given[:3]).solve(gradients(*given), 0.01)
    assert (found.iterations, found.converged) == (2, False)
    assert found.residual > 1e-6
