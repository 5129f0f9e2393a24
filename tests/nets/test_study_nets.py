"""The nets of the papers: widths and numbers of parameters, worked out by hand."""

from math import prod

import pytest
import torch
from net_stacks import convolutional, dense

from flatlas.nets import build_net

MNIST, CIFAR, BOOLEAN = (1, 28, 28), (3, 32, 32), (1, 1, 7)


def count(net):
    return sum(prod(shape) for shape in net.shapes.values())


@pytest.mark.parametrize(
    ("hidden", "bias", "input_shape", "outputs", "parameters"),
    [
        ((30, 30), False, MNIST, 10, 784 * 30 + 900 + 300),
        ((30, 30, 30, 30), False, MNIST, 10, 784 * 30 + 3 * 900 + 300),
        ((50, 50), False, MNIST, 10, 784 * 50 + 2500 + 500),
        ((50, 50, 50, 50), False, MNIST, 10, 784 * 50 + 3 * 2500 + 500),
        ((40, 40), True, MNIST, 1, 33_081),
        ((10, 40), True, MNIST, 1, 785 * 10 + 11 * 40 + 41),
        ((40, 40), True, CIFAR, 1, 3073 * 40 + 41 * 40 + 41),
        ((40, 40), True, BOOLEAN, 1, 8 * 40 + 41 * 40 + 41),
    ],
)
def test_dense_nets(hidden, bias, input_shape, outputs, parameters):
    net = build_net(dense(*hidden, bias=bias), input_shape, outputs)
    assert count(net) == parameters
    assert net.outputs == outputs


def stage(channels, kernel, **values):
    return {"channels": channels, "kernel": kernel, **values}


LENET = (stage(6, 5, pool=2), stage(16, 5, pool=2))
PADDED_LENET = (stage(16, 3, padding=1, pool=2), stage(32, 5, padding=2, pool=2))
ALL_CONVOLUTIONAL = (
    stage(96, 3, padding=1),
    stage(96, 3, padding=1),
    stage(96, 3, padding=1, stride=2),
    stage(192, 3, padding=1),
    stage(192, 3, padding=1),
    stage(192, 3, padding=1, stride=2),
    stage(192, 3, padding=1),
    stage(192, 1),
)
LENET_PARAMETERS = 76 * 6 + 151 * 16


@pytest.mark.parametrize(
    ("stages", "values", "input_shape", "widths", "parameters"),
    [
        (
            LENET,
            {"hidden": (120, 25)},
            CIFAR,
            [400, 120, 25],
            LENET_PARAMETERS + 401 * 120 + 121 * 25 + 260,
        ),
        (
            LENET,
            {"hidden": (120, 84)},
            CIFAR,
            [400, 120, 84],
            LENET_PARAMETERS + 401 * 120 + 121 * 84 + 850,
        ),
        (PADDED_LENET, {}, MNIST, [1568], 10 * 16 + 401 * 32 + 15_690),
        (
            ALL_CONVOLUTIONAL,
            {"global_pool": True},
            CIFAR,
            [192],
            28 * 96 + 2 * 865 * 96 + 865 * 192 + 3 * 1729 * 192 + 193 * 192 + 1930,
        ),
    ],
    ids=["duality", "annealing CIFAR", "annealing MNIST", "all-convolutional"],
)
def test_convolutional_nets(stages, values, input_shape, widths, parameters):
    net = build_net(convolutional(*stages, **values), input_shape, 10)
    assert [layer.inputs for layer in net.dense_layers] == widths
    assert count(net) == parameters
    logits = net.forward(net.initial((0, 1)), torch.rand(2, 1, *input_shape))
    assert logits.shape == (2, 1, 10)
