"""How large a net is, layer by layer, told by its spec alone.

A layer counts by its weights and by its products, the multiplications that one image costs: so many
as it has weights, at each place of the image that it makes. Biases and norms count for nothing.
"""

from collections.abc import Iterator, Sequence

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
# The weights of a layer, and at how many places of an image they are used.
Layer = tuple[int, int]

# What a user's own module is taken for, whatever it is: the weights of a ResNet-50, at so many
# places of an image that they make the products of a ResNet-18.
LIKE_A_RESNET = (25 * 10**6, 20)
# How many times its inner channels leave a residual block, and how many times the growth the first
# convolution makes in a layer of a DenseNet.
EXPANSION = {"basic": 1, "bottleneck": 4}
BOTTLENECK = 4


def products(net: NetSpec, input_shape: Shape, outputs: int) -> int:
    """The multiplications that one image costs."""
    return sum(weights * places for weights, places in layers(net, input_shape, outputs))


def layers(net: NetSpec, input_shape: Shape, outputs: int) -> Iterator[Layer]:
    """Each layer with weights, shortcuts among them, on the way from an image to its logits."""
    if isinstance(net, Own):
        yield LIKE_A_RESNET
    elif isinstance(net, Preactivation):
        count = net.depth // (6 if net.block == "basic" else 9)
        inside = [net.channels * net.widen * 2**stage for stage in range(3)]
        yield from _residual(net, [count] * 3, inside, input_shape, outputs)
    elif isinstance(net, Resnet):
        inside = [net.channels * 2**stage for stage in range(len(net.blocks))]
        yield from _residual(net, net.blocks, inside, input_shape, outputs)
    elif isinstance(net, Densenet):
        yield from _densely_connected(net, input_shape, outputs)
    else:
        yield from _layered(net, input_shape, outputs)


def _layered(net: DenseNet | ConvolutionalNet, shape: Shape, outputs: int) -> Iterator[Layer]:
    channels, height, width = shape
    features = channels * height * width
    if isinstance(net, ConvolutionalNet):
        for stage in net.stages:
            height, width = (
                (side + 2 * stage.padding - stage.kernel) // stage.stride + 1
                for side in (height, width)
            )
            yield stage.kernel**2 * channels * stage.channels, height * width
            channels, height, width = stage.channels, height // stage.pool, width // stage.pool
        features = channels * (1 if net.global_pool else height * width)
    for neurons in (*net.hidden, outputs):
        yield features * neurons, 1
        features = neurons


def _residual(
    net: Preactivation | Resnet,
    blocks: Sequence[int],
    inside: Sequence[int],
    shape: Shape,
    outputs: int,
) -> Iterator[Layer]:
    """So many blocks in each stage, and so many channels inside them."""
    colours, height, width = shape
    channels, places = net.channels, height * width
    yield 9 * colours * channels, places
    for stage, (count, inner) in enumerate(zip(blocks, inside, strict=True)):
        outer = EXPANSION[net.block] * inner
        for number in range(count):
            before, halved = places, bool(stage and not number)
            if halved:
                height, width = -(-height // 2), -(-width // 2)
                places = height * width
            if net.block == "basic":
                yield 9 * channels * inner, places
            else:
                yield channels * inner, before
                yield 9 * inner * inner, places
            yield (9 if net.block == "basic" else 1) * inner * outer, places
            if halved or channels != outer:
                yield channels * outer, places
            channels = outer
    yield channels * outputs, 1


def _densely_connected(net: Densenet, shape: Shape, outputs: int) -> Iterator[Layer]:
    """Between two blocks half of the channels are left, and then half of the side."""
    colours, height, width = shape
    channels, inner = net.channels, BOTTLENECK * net.growth
    yield 9 * colours * channels, height * width
    for block, count in enumerate(net.blocks):
        if block:
            yield channels * (channels // 2), height * width
            channels, height, width = channels // 2, height // 2, width // 2
        for _ in range(count):
            yield channels * inner, height * width
            yield 9 * inner * net.growth, height * width
            channels += net.growth
    yield channels * outputs, 1
