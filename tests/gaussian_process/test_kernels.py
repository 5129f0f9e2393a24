"""The kernel of random nets: by an integral, and sampled."""

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from flatlas.errors import FlatlasError
from flatlas.gaussian_process import kernels
from flatlas.gaussian_process.kernels import (
    ArcCosineKernel,
    arc_cosine_kernel,
    last_layer_variances,
    monte_carlo_kernel,
    sampled_kernel,
)
from flatlas.nets import build_net
from flatlas.nets.dense import dense_layers
from flatlas.nets.layered import LayeredNet
from flatlas.nets.modules import ModuleNet
from flatlas.plan.families.convolutional import ConvolutionalNet, ConvolutionStage
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.initializations import FrameworkUniform, HeNormal, ScaledNormal, XavierUniform

HE = HeNormal(scheme="he_normal", bias_std=0.5)
SHAPE = (1, 4, 4)


def images(count):
    generator = torch.Generator().manual_seed(0)
    return torch.rand(count, *SHAPE, generator=generator, dtype=torch.float64)


def dense(hidden, init=HE):
    return build_net(DenseNet(family="dense", hidden=hidden, bias=True, init=init), SHAPE, 1)


def convolutional():
    stages = (ConvolutionStage(channels=3, kernel=2),)
    spec = ConvolutionalNet(family="convolutional", stages=stages, hidden=(5,), init=HE)
    return build_net(spec, SHAPE, 1)


def integrated(k_xx, k_xy, k_yy):
    """E[relu(u) relu(v)], over the angle of the plane: E[r²] = 2 for a pair of standard normals."""
    a, b = np.linalg.cholesky([[k_xx, k_xy], [k_xy, k_yy]])
    edges = [np.arctan2(-w[0], w[1]) % np.pi for w in (a, b)]

    def product(angle):
        direction = np.array([np.cos(angle), np.sin(angle)])
        return max(a @ direction, 0) * max(b @ direction, 0)

    kinks = sorted({edge + turn for edge in edges for turn in (0, np.pi)})
    return quad(product, 0, 2 * np.pi, points=kinks, epsabs=1e-12)[0] / np.pi


@pytest.mark.parametrize(("sigma_w", "sigma_b"), [(2.0, 1.0), (1.5, 0.0), (1.0, 0.01)])
def test_every_layer_is_the_moment_of_two_relus(sigma_w, sigma_b):
    x, y = torch.tensor([0.3, -1.2, 0.7]).double(), torch.tensor([1.0, 0.4, 0.2]).double()
    pair = np.array([[x @ x, x @ y], [x @ y, y @ y]]) / 3
    for depth in range(4):
        if depth:
            (k_xx, k_xy), (_, k_yy) = pair
            across = integrated(k_xx, k_xy, k_yy)
            pair = np.array([[k_xx / 2, across], [across, k_yy / 2]])
        pair = sigma_b + sigma_w * pair
        found = ArcCosineKernel(depth, sigma_w, sigma_b)(torch.stack([x, y])).to_dense()
        np.testing.assert_allclose(found, pair, rtol=1e-10)


def test_the_matrix_is_symmetric_and_its_diagonal_exact():
    x = images(50).flatten(1)
    kernel = ArcCosineKernel(3, 2.0, 0.3)
    matrix = kernel(x).to_dense()
    assert matrix.dtype == torch.float64
    assert torch.equal(matrix, matrix.T)
    torch.testing.assert_close(matrix.diagonal(), kernel(x, diag=True), rtol=1e-15, atol=0)
    across = kernel(x[:7], x[30:]).to_dense()
    torch.testing.assert_close(across, matrix[:7, 30:], rtol=1e-12, atol=0)


def test_opposite_equal_and_dark_images():
    """An angle of π leaves nothing; without biases a dark image has variance 0."""
    x = images(1).flatten(1)
    found = ArcCosineKernel(1, 2.0, 0.0)(torch.cat([x, -x, x, 0 * x])).to_dense()
    pattern = torch.tensor([[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]])
    expected = 2 * x.square().mean() * pattern
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-15)


def test_the_sampled_kernel_converges_to_the_exact_one():
    x = images(6)
    errors = []
    for width, nets in ((16, 8), (200, 200)):
        net = dense((width, width))
        exact = arc_cosine_kernel(net)(x.flatten(1)).to_dense()
        sampled = monte_carlo_kernel(net, x, range(nets))
        errors.append(((sampled - exact).norm() / exact.norm()).item())
    assert errors[1] < 0.01
    assert errors[0] > 4 * errors[1]


def test_a_kernel_is_sampled_with_a_random_net_for_ten_images():
    """Each net has six features, some of them dead, and the biases add one column."""
    x, net = images(25), dense((7, 6))
    found = sampled_kernel(net, x, seed=3)
    assert 7 < torch.linalg.matrix_rank(found).item() <= 13
    assert torch.linalg.matrix_rank(sampled_kernel(net, x[:12], seed=3)).item() <= 7
    assert torch.equal(found, sampled_kernel(net, x, seed=3))
    assert not torch.allclose(found, sampled_kernel(net, x, seed=4))


NETS = pytest.mark.parametrize(
    "net", [dense((7, 6)), convolutional()], ids=["dense", "convolutional"]
)


@NETS
def test_the_sampled_kernel_is_the_mean_over_nets(net, monkeypatch):
    """Blocks of nets and of images change nothing; features enter the last dense layer."""
    monkeypatch.setattr(kernels, "NETS", 3)
    monkeypatch.setattr(kernels, "IMAGES", 4)
    x, seeds, expected = images(10), [5, 1, 8, 11], torch.zeros(10, 10).double()
    for seed in seeds:
        parameters = {name: value.double() for name, value in net.initial([seed]).items()}
        rows = net.into(parameters, x.unsqueeze(0), net.dense_layers[-1].name).squeeze(0)
        expected += 2 * rows @ rows.T / rows.shape[1] / 4
    found = monte_carlo_kernel(net, x, seeds)
    torch.testing.assert_close(found, expected + 0.25, rtol=1e-12, atol=0)


@pytest.mark.gpu
@NETS
def test_a_gpu_samples_the_same_kernel(net):
    x = images(25)
    found = sampled_kernel(net, x.cuda(), seed=3).cpu()
    torch.testing.assert_close(found, sampled_kernel(net, x, seed=3), rtol=1e-10, atol=0)


@pytest.mark.parametrize(
    "init",
    [
        HE,
        ScaledNormal(scheme="scaled_normal", weight_std=1.3, bias_std=0.7),
        XavierUniform(scheme="xavier_uniform", scale=1.4),
        FrameworkUniform(scheme="framework_uniform", scale=0.8),
    ],
    ids=lambda init: init.scheme,
)
def test_the_last_layers_variances_are_those_of_its_weights(init):
    net = dense((40,), init)
    parameters = net.initial(range(3000))
    weight, bias = last_layer_variances(net)
    assert 40 * parameters["fc2.weight"].var().item() == pytest.approx(weight, rel=0.02)
    assert parameters["fc2.bias"].var().item() == pytest.approx(bias, rel=0.1, abs=1e-12)
    no_biases = LayeredNet(dense_layers((16, 40, 1), bias=False, dropout=0.0), init)
    assert last_layer_variances(no_biases) == (weight, 0.0)


def test_a_net_without_such_a_limit_is_refused():
    for net in (convolutional(), dense((5,), XavierUniform(scheme="xavier_uniform"))):
        with pytest.raises(FlatlasError, match=r"fully connected.*monte_carlo"):
            arc_cosine_kernel(net)


def test_a_net_with_buffers_that_training_changes_has_no_sampled_kernel():
    """They would be those of other weights."""

    def normed():
        return nn.Sequential(nn.Flatten(), spectral_norm(nn.Linear(16, 4)), nn.Linear(4, 1))

    with pytest.raises(FlatlasError, match=r"1\.parametrizations"):
        monte_carlo_kernel(ModuleNet(normed, SHAPE, 1), images(3), range(2))
