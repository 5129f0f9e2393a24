"""The gradient of the mean loss, by hand and by autograd, and without pixels that are always 0."""

import pytest
import torch
from hessian_systems import system

from flatlas.hessian.loss import MeanLoss, flattened, value_and_gradient, without_dark_pixels
from flatlas.nets import build_net
from flatlas.plan.families.convolutional import ConvolutionalNet
from flatlas.plan.initializations import FrameworkUniform


def stack_of(name, outputs, members=3):
    """A loss, and weights of some members around those of a net."""
    net, parameters, inputs, labels = system(name, outputs)
    w = flattened(net, parameters) * torch.linspace(0.5, 1.5, members).double().unsqueeze(1)
    return MeanLoss(net, inputs, labels), w


def by_autograd(loss, w):
    leaf = w.clone().requires_grad_()
    values = loss(leaf)
    return values.detach(), torch.autograd.grad(values.sum(), leaf)[0]


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", ["logistic", "biases"])
def test_the_gradient_by_hand_is_that_of_autograd(name, outputs):
    loss, w = stack_of(name, outputs)
    for found, expected in zip(value_and_gradient(loss, w), by_autograd(loss, w), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-15)


def test_each_member_may_have_separate_images():
    loss, w = stack_of("biases", 3, members=2)
    some = torch.tensor([[0, 1, 2], [3, 4, 0]])
    own = MeanLoss(loss.net, loss.inputs[0, some], loss.labels[0, some])
    values, slopes = value_and_gradient(own, w)
    for member, images in enumerate(some):
        value, slope = by_autograd(loss.of(images), w[member])
        torch.testing.assert_close(values[member], value, rtol=1e-12, atol=0)
        torch.testing.assert_close(slopes[member], slope, rtol=1e-12, atol=1e-15)


def test_pixels_that_are_always_dark_change_nothing():
    loss, w = stack_of("biases", 3)
    inputs = loss.inputs.clone()
    dark = torch.arange(inputs[0, 0].numel()).remainder(3).eq(0).view(inputs[0, 0].shape)
    inputs[:, :, dark] = 0
    loss = MeanLoss(loss.net, inputs, loss.labels)
    narrow, kept = without_dark_pixels(loss, w)
    fewer = int(dark.sum()) * loss.net.dense_layers[0].outputs
    assert kept.shape[1] == w.shape[1] - fewer
    values, slopes = value_and_gradient(loss, w)
    alone, narrow_slopes = value_and_gradient(narrow, kept)
    torch.testing.assert_close(alone, values, rtol=1e-13, atol=0)
    torch.testing.assert_close(narrow_slopes.norm(dim=1), slopes.norm(dim=1), rtol=1e-12, atol=0)
    assert (slopes == 0).sum(1).ge(fewer).all()


@pytest.mark.parametrize(
    ("device", "hidden", "vectors", "sizes"),
    [
        ("cpu", (), 1, [32, 32, 32, 4]),
        ("cpu", (), 8, [10] * 10),
        ("cpu", (2**13,), 1, [65, 35]),
        ("meta", (), 1, [100]),
        ("meta", (), 8, [62, 38]),
    ],
)
def test_blocks_on_a_cpu_are_small_but_not_of_few_images(device, hidden, vectors, sizes):
    """A GPU has no use for caches, and neither has torch's device without memory."""
    init = FrameworkUniform(scheme="framework_uniform")
    stages = [{"channels": 4, "kernel": 3, "padding": 1}]
    spec = ConvolutionalNet(family="convolutional", stages=stages, hidden=hidden, init=init)
    images = torch.empty(1, 100, 1, 8, 8, device=device)
    loss = MeanLoss(build_net(spec, (1, 8, 8), 3), images, torch.empty(1, 100, device=device))
    assert [part.labels.shape[1] for part, _ in loss.parts(vectors)] == sizes
