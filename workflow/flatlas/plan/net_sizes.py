"""How large a net is: its weights, and the multiplications that an image costs it. Without torch.

Biases and batch norm count for nothing.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod

from flatlas.plan.net_specs import (
    ConvolutionalNet,
    DenseNet,
    Densenet,
    NetSpec,
    Own,
    Preactivation,
    Resnet,
)

Shape = tuple[int, int, int]
# For each layer its number of weights, and at how many places of an image they are used.
Layers = Iterator[tuple[int, int]]

# What a user's own net is taken for, whatever it is: the weights of a ResNet-50, at so many places
# that they make the products of a ResNet-18.
LIKE_A_RESNET = (25 * 10**6, 20)
# A layer of a DenseNet makes so many channels times its growth before its convolution of 3 x 3.
NARROWING = 4


def weights(net: NetSpec, input_shape: Shape, outputs: int) -> int:
    """How many it has."""
    return sum(weights for weights, _ in layers(net, input_shape, outputs))


def products(net: NetSpec, input_shape: Shape, outputs: int) -> int:
    """The multiplications of one image."""
    return sum(weights * places for weights, places in layers(net, input_shape, outputs))


def layers(net: NetSpec, input_shape: Shape, outputs: int) -> Layers:
    """The layers of a net on images of a shape."""
    match net:
        case DenseNet():
            yield from _dense((prod(input_shape), *net.hidden, outputs))
        case ConvolutionalNet():
            yield from _convolutional(net, input_shape, outputs)
        case Preactivation():
            blocks = net.depth // (6 if net.block == "basic" else 9)
            stages = [(blocks, net.channels * net.widen * 2**stage) for stage in range(3)]
            yield from _residual(net.channels, stages, net.block, input_shape, outputs)
        case Resnet():
            stages = [(blocks, net.channels * 2**stage) for stage, blocks in enumerate(net.blocks)]
            yield from _residual(net.channels, stages, net.block, input_shape, outputs)
        case Densenet():
            yield from _densely_connected(net, input_shape, outputs)
        case Own():
            yield LIKE_A_RESNET


def _dense(widths: Sequence[int]) -> Layers:
    for inputs, neurons in pairwise(widths):
        yield inputs * neurons, 1


def _convolutional(net: ConvolutionalNet, input_shape: Shape, outputs: int) -> Layers:
    channels, height, width = input_shape
    for stage in net.stages:
        height, width = (
            (side + 2 * stage.padding - stage.kernel) // stage.stride + 1
            for side in (height, width)
        )
        yield stage.kernel**2 * channels * stage.channels, height * width
        channels, height, width = stage.channels, height // stage.pool, width // stage.pool
    features = channels * (1 if net.global_pool else height * width)
    yield from _dense((features, *net.hidden, outputs))


def _residual(
    stem: int, stages: Sequence[tuple[int, int]], block: str, input_shape: Shape, outputs: int
) -> Layers:
    """Each of the `stages` has so many blocks, with so many channels inside."""
    channels, height, width = input_shape
    yield 9 * channels * stem, height * width
    channels = stem
    for stage, (blocks, inside) in enumerate(stages):
        outside = inside if block == "basic" else 4 * inside
        for number in range(blocks):
            halved, before = stage > 0 and number == 0, height * width
            if halved:
                height, width = (height + 1) // 2, (width + 1) // 2
            places = height * width
            if block == "basic":
                yield 9 * channels * inside, places
                yield 9 * inside * outside, places
            else:
                yield channels * inside, before
                yield 9 * inside * inside, places
                yield inside * outside, places
            if halved or channels != outside:
                yield channels * outside, places
            channels = outside
    yield channels * outputs, 1


def _densely_connected(net: Densenet, input_shape: Shape, outputs: int) -> Layers:
    channels, height, width = input_shape
    yield 9 * channels * net.channels, height * width
    channels = net.channels
    for block, count in enumerate(net.blocks):
        if block:
            yield channels * (channels // 2), height * width
            channels, height, width = channels // 2, height // 2, width // 2
        for _ in range(count):
            yield channels * NARROWING * net.growth, height * width
            yield 9 * NARROWING * net.growth**2, height * width
            channels += net.growth
    yield channels * outputs, 1
