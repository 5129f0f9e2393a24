"""The size of a net, told by its spec, against the net itself and torch's own count of its work."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from flatlas.nets import build_net
from flatlas.plan.net_specs import ConvolutionalNet, DenseNet, Densenet, Own, Preactivation, Resnet
from flatlas.plan.sizes import layers, products

STAGES = (
    {"channels": 6, "kernel": 5, "padding": 2, "pool": 2},
    {"channels": 6, "kernel": 3, "padding": 1, "skip": True},
    {"channels": 16, "kernel": 5, "stride": 2, "pool": 2},
)
NETS = {
    "dense": DenseNet(family="dense", hidden=(30, 20)),
    "linear": DenseNet(family="dense", hidden=()),
    "convolutional": ConvolutionalNet(family="convolutional", stages=STAGES, hidden=(8,)),
    "pooled": ConvolutionalNet(family="convolutional", stages=STAGES, global_pool=True),
    "preactivation": Preactivation(family="preactivation", depth=14, channels=4),
    "wide": Preactivation(family="preactivation", depth=10, channels=4, widen=2),
    "deep": Preactivation(family="preactivation", depth=20, block="bottleneck", channels=4),
    "resnet": Resnet(family="resnet", blocks=(2, 1, 1, 1), channels=4),
    "bottleneck": Resnet(family="resnet", blocks=(1, 2), block="bottleneck", channels=4),
    "densenet": Densenet(family="densenet", blocks=(2, 3, 2, 1), growth=4, channels=8),
}


@pytest.mark.parametrize("side", [28, 31])
@pytest.mark.parametrize("family", NETS)
def test_it_is_that_of_the_net(family, side):
    spec, shape, outputs = NETS[family], (3, side, side), 7
    net = build_net(spec, shape, outputs)
    weights = [s for name, s in net.shapes.items() if len(s) > 1 and name.endswith("weight")]
    counted = sum(weights for weights, _ in layers(spec, shape, outputs))
    assert counted == sum(torch.Size(one).numel() for one in weights)

    with FlopCounterMode(display=False) as counter:
        net.forward(net.initial((0,)), torch.zeros(1, 1, *shape))
    # A multiplication and an addition are two.
    assert products(spec, shape, outputs) == counter.get_total_flops() / 2


def test_the_nets_of_the_papers_have_their_sizes():
    """In millions, weights of convolutions and dense layers alone."""
    shape = (3, 32, 32)
    millions = {
        "ResNet-18": (Resnet(family="resnet", blocks=(2, 2, 2, 2)), 10, 11.2),
        "ResNet-50": (Resnet(family="resnet", blocks=(3, 4, 6, 3), block="bottleneck"), 10, 23.5),
        "DenseNet-121": (Densenet(family="densenet", blocks=(6, 12, 24, 16)), 10, 6.9),
        "WideResNet-28x10": (Preactivation(family="preactivation", depth=28, widen=10), 100, 36.5),
    }
    for name, (spec, outputs, expected) in millions.items():
        weights = sum(weights for weights, _ in layers(spec, shape, outputs))
        assert weights / 1e6 == pytest.approx(expected, rel=0.01), name


def test_a_net_of_ones_own_counts_as_a_large_one():
    own = Own(family="own", module="my_nets:Net")
    assert products(own, (3, 8, 8), 2) == 5 * 10**8
