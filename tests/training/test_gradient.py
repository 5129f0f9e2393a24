"""The gradient by hand, by autograd and by finite differences."""

import pytest
import torch

from flatlas.nets import build_net
from flatlas.nets.dense_gradient import dense_gradient
from flatlas.nets.loss import sample_losses
from flatlas.plan.families.convolutional import ConvolutionalNet
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.families.preactivation import Preactivation
from flatlas.plan.initializations import FrameworkUniform
from flatlas.training.gradient import (
    autograd_gradient,
    channels_last,
    gradient,
)

INIT = FrameworkUniform(scheme="framework_uniform")
ROWS, BATCH = 3, 5


def dense(*hidden, bias=True):
    return DenseNet(family="dense", hidden=hidden, bias=bias, init=INIT)


CONVOLUTIONAL = ConvolutionalNet(
    family="convolutional", stages=({"channels": 3, "kernel": 2},), hidden=(5,), init=INIT
)
RESIDUAL = Preactivation(family="preactivation", depth=8, channels=4)
CASES = {
    "biases": (dense(5, 4), 3),
    "no biases": (dense(5, 4, bias=False), 3),
    "no hidden layer": (dense(), 3),
    "one output": (dense(5), 1),
    "one output, no biases": (dense(5, 4, bias=False), 1),
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


def finite_differences(net, parameters, inputs, labels, masks, step=1e-6):
    """Central differences of each row's mean loss, weight by weight, all rows at once."""

    def row_losses():
        return sample_losses(net.forward(parameters, inputs, masks), labels).mean(1)

    slopes = {}
    for name, value in parameters.items():
        slopes[name] = torch.empty_like(value)
        flat, slope = value.view(ROWS, -1), slopes[name].view(ROWS, -1)
        for weight in range(flat.shape[1]):
            flat[:, weight] += step
            above = row_losses()
            flat[:, weight] -= 2 * step
            slope[:, weight] = (above - row_losses()) / (2 * step)
            flat[:, weight] += step
    return slopes


@pytest.mark.parametrize("dropout", [False, True], ids=["", "dropout"])
@pytest.mark.parametrize("case", CASES)
def test_backpropagation_by_hand_equals_autograd_and_finite_differences(case, dropout):
    given = problem(*CASES[case], dropout)
    by_hand = dense_gradient(*given)
    assert list(by_hand) == list(given[1])
    torch.testing.assert_close(by_hand, autograd_gradient(*given), rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(by_hand, finite_differences(*given), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dropout", [False, True], ids=["", "dropout"])
def test_a_convolutional_net_has_the_gradient_of_finite_differences(dropout):
    given = problem(CONVOLUTIONAL, 3, dropout)
    torch.testing.assert_close(gradient(*given), finite_differences(*given), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("spec", [CONVOLUTIONAL, RESIDUAL], ids=["convolutional", "residual"])
def test_in_bfloat16_products_are_rounded_and_gradients_are_not(spec):
    """Eight bits: a part in 256 for each product, some per cent of the whole gradient."""
    net, *given = problem(spec, 3, dropout=False)
    parameters, inputs = ({k: v.float() for k, v in given[0].items()}, given[1].float())
    exact, rounded = (gradient(net, parameters, inputs, *given[2:], bits) for bits in (False, True))
    assert all(slope.dtype == torch.float32 for slope in rounded.values())
    one, other = (torch.cat([v.flatten() for v in g.values()]) for g in (exact, rounded))
    assert 1e-4 < (other - one).norm() / one.norm() < 0.1


def test_channels_that_lie_last_are_the_same_images():
    (_, _, images, *_) = problem(CONVOLUTIONAL, 3, dropout=False)
    moved = channels_last(images)
    assert torch.equal(moved, images)
    assert all(row.is_contiguous(memory_format=torch.channels_last) for row in moved)


def test_gradients_remember_no_graph():
    for spec in (dense(5), CONVOLUTIONAL):
        for slope in gradient(*problem(spec, 3, dropout=False)).values():
            assert not slope.requires_grad
