"""The gradient that is written out, and by autograd."""

import pytest
import torch

from flatlas.nets import build_net
from flatlas.nets.layers import channels_last
from flatlas.nets.loss import sample_losses
from flatlas.plan.families.convolutional import ConvolutionalNet
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.families.preactivation import Preactivation
from flatlas.plan.initializations import FrameworkUniform
from flatlas.training.gradient import autograd_gradient, gradient

INIT = FrameworkUniform(scheme="framework_uniform")
ROWS, BATCH = 3, 5


def dense(*hidden, bias=True):
    return DenseNet(family="dense", hidden=hidden, bias=bias, init=INIT)


CONVOLUTIONAL = ConvolutionalNet(
    family="convolutional", stages=({"channels": 3, "kernel": 2},), hidden=(5,), init=INIT
)
POOLED = ConvolutionalNet(
    family="convolutional", stages=({"channels": 3, "kernel": 2, "pool": 2},), init=INIT
)
RESIDUAL = Preactivation(family="preactivation", depth=8, channels=4)
CASES = {
    "biases": (dense(5, 4), 3),
    "no biases": (dense(5, 4, bias=False), 3),
    "no hidden layer": (dense(), 3),
    "one output": (dense(5), 1),
    "one output, no biases": (dense(5, 4, bias=False), 1),
    "convolutional": (CONVOLUTIONAL, 3),
}


def problem(spec, outputs, dropout):
    """A stack in float64, a minibatch for each row and, with dropout, masks."""
    net = build_net(spec, (2, 3, 3), outputs)
    parameters = {name: value.double() for name, value in net.initial(range(ROWS)).items()}
    generator = torch.Generator().manual_seed(1)
    inputs = torch.rand(ROWS, BATCH, 2, 3, 3, generator=generator, dtype=torch.float64)
    labels = torch.randint(max(outputs, 2), (ROWS, BATCH), generator=generator)
    masks = {}
    for layer in net.dense_layers[:-1] if dropout else ():
        draws = torch.rand(ROWS, BATCH, layer.outputs, generator=generator)
        masks[layer.name] = (draws < 0.6).double() / 0.6
    return net, parameters, inputs, labels, masks


def of_the_whole_stack(net, parameters, inputs, labels, masks):
    """The gradient of each row's mean loss by one call of autograd, since rows do not mix."""
    leaves = {name: value.clone().requires_grad_() for name, value in parameters.items()}
    losses = sample_losses(net.forward(leaves, inputs, masks), labels).mean(1)
    return dict(zip(leaves, torch.autograd.grad(losses.sum(), leaves.values()), strict=True))


@pytest.mark.parametrize("dropout", [False, True], ids=["", "dropout"])
@pytest.mark.parametrize("case", CASES)
def test_the_gradient_is_that_of_autograd(case, dropout):
    given = problem(*CASES[case], dropout)
    found = gradient(*given)
    assert list(found) == list(given[1])
    assert not any(slope.requires_grad for slope in found.values())
    for expected in (autograd_gradient(*given), of_the_whole_stack(*given)):
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("spec", [POOLED, RESIDUAL], ids=["pooled", "residual"])
def test_in_float32_images_have_channels_last(spec):
    net, parameters, inputs, labels, masks = problem(spec, 3, dropout=False)
    assert net.laid_out(inputs) is inputs
    rounded = inputs.float()
    assert net.laid_out(rounded).stride() != rounded.stride()
    found = gradient(net, {k: v.float() for k, v in parameters.items()}, rounded, labels, masks)
    expected = gradient(net, parameters, inputs, labels, masks)
    for name, slope in expected.items():
        torch.testing.assert_close(found[name].double(), slope, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("spec", [CONVOLUTIONAL, RESIDUAL], ids=["convolutional", "residual"])
def test_bfloat16_rounds_products_and_not_gradients(spec):
    """Eight bits: 1/256 of each product, some per cent of the whole gradient."""
    net, *given = problem(spec, 3, dropout=False)
    parameters, inputs = ({k: v.float() for k, v in given[0].items()}, given[1].float())
    exact, rounded = (gradient(net, parameters, inputs, *given[2:], bits) for bits in (False, True))
    assert all(slope.dtype == torch.float32 for slope in rounded.values())
    one, other = (torch.cat([v.flatten() for v in g.values()]) for g in (exact, rounded))
    assert 1e-4 < (other - one).norm() / one.norm() < 0.1


@pytest.mark.parametrize("channels", [1, 2])
def test_images_with_channels_last_have_the_same_numbers_and_give_such_convolutions(channels):
    images = torch.rand(ROWS, BATCH, channels, 5, 5)
    moved = channels_last(images)
    assert torch.equal(moved, images)
    convolution = build_net(CONVOLUTIONAL, (channels, 5, 5), 3).convolutions[0]
    weights = {name: torch.rand(1, *shape) for name, shape in convolution.shapes.items()}
    for row in range(ROWS):
        z = convolution.preactivation(weights, moved[row : row + 1])[0]
        assert z.is_contiguous(memory_format=torch.channels_last)
