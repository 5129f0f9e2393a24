"""The nets of the papers: widths and numbers of parameters, worked out by hand."""

from math import prod

import pytest
import torch
from net_stacks import convolutional, dense

from flatlas.nets import build_net

MNIST, CIFAR, BOOLEAN = (1, 28, 28), (3, 32, 32), (1, 1, 7)


def stage(channels, kernel, **values):
    return {"channels": channels, "kernel": kernel, **values}


LENET = (stage(6, 5, pool=2), stage(16, 5, pool=2))
PADDED_LENET = (stage(16, 3, padding=1, pool=2), stage(32, 5, padding=2, pool=2))
ALL_CONVOLUTIONAL = [
    *[stage(96, 3, padding=1)] * 2,
    stage(96, 3, padding=1, stride=2),
    *[stage(192, 3, padding=1)] * 2,
    stage(192, 3, padding=1, stride=2),
    stage(192, 3, padding=1),
    stage(192, 1),
]
DUALITY = convolutional(*LENET, hidden=(120, 25))
DUALITY_SIZE = 76 * 6 + 151 * 16 + 401 * 120 + 121 * 25 + 260
ANNEALING = convolutional(*LENET, hidden=(120, 84))
ANNEALING_SIZE = 76 * 6 + 151 * 16 + 401 * 120 + 121 * 84 + 850
POOLED = convolutional(*ALL_CONVOLUTIONAL, global_pool=True)
POOLED_SIZE = 28 * 96 + 2 * 865 * 96 + 865 * 192 + 3 * 1729 * 192 + 193 * 192 + 1930


@pytest.mark.parametrize(
    ("spec", "input_shape", "outputs", "widths", "parameters"),
    [
        (dense(30, 30), MNIST, 10, [784, 30, 30], 784 * 30 + 900 + 300),
        (dense(50, 50, 50, 50), MNIST, 10, [784, *[50] * 4], 784 * 50 + 3 * 2500 + 500),
        (dense(40, 40, bias=True), MNIST, 1, [784, 40, 40], 33_081),
        (dense(10, 40, bias=True), MNIST, 1, [784, 10, 40], 785 * 10 + 11 * 40 + 41),
        (dense(40, 40, bias=True), CIFAR, 1, [3072, 40, 40], 3073 * 40 + 41 * 40 + 41),
        (dense(40, 40, bias=True), BOOLEAN, 1, [7, 40, 40], 8 * 40 + 41 * 40 + 41),
        (DUALITY, CIFAR, 10, [400, 120, 25], DUALITY_SIZE),
        (ANNEALING, CIFAR, 10, [400, 120, 84], ANNEALING_SIZE),
        (convolutional(*PADDED_LENET), MNIST, 10, [1568], 10 * 16 + 401 * 32 + 15_690),
        (POOLED, CIFAR, 10, [192], POOLED_SIZE),
    ],
)
def test_the_papers_nets_have_their_widths_and_sizes(
    spec, input_shape, outputs, widths, parameters
):
    net = build_net(spec, input_shape, outputs)
    assert [layer.inputs for layer in net.dense_layers] == widths
    assert sum(prod(shape) for shape in net.shapes.values()) == parameters
    logits = net.forward(net.initial((0, 1)), torch.rand(2, 1, *input_shape))
    assert logits.shape == (2, 1, outputs)
