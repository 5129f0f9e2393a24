"""Weights and multiplications that the plan counts, against the nets that are built."""

from math import prod

import pytest
import torch
from pydantic import TypeAdapter
from torch import nn

from flatlas.nets import build_net
from flatlas.nets.densenet import densenet
from flatlas.nets.preactivation import PreactivationNet
from flatlas.nets.resnet import resnet
from flatlas.plan.net_sizes import layers, products
from flatlas.plan.net_specs import NetSpec

STAGES = (
    {"channels": 6, "kernel": 5, "padding": 2, "pool": 2},
    {"channels": 6, "kernel": 3, "padding": 1, "skip": True},
    {"channels": 16, "kernel": 5, "stride": 2, "pool": 2},
)
CONVOLUTIONAL = {"family": "convolutional", "stages": STAGES, "hidden": (8,)}


def spec_of(net):
    return TypeAdapter(NetSpec).validate_python(net)


@pytest.mark.parametrize("outputs", [1, 10])
@pytest.mark.parametrize(
    "net",
    [{"family": "dense", "hidden": (30, 20)}, CONVOLUTIONAL, CONVOLUTIONAL | {"global_pool": True}],
    ids=["dense", "convolutional", "pooled"],
)
def test_the_weights_are_those_of_the_net(net, outputs):
    spec, shape = spec_of(net), (1, 28, 28)
    named = build_net(spec, shape, outputs).shapes.items()
    counted = [weights for weights, _ in layers(spec, shape, outputs)]
    assert counted == [prod(shape) for name, shape in named if "weight" in name]


def test_a_convolution_is_used_at_every_place_of_its_output():
    """28 -> 28 (pooled to 14) -> 14 -> (14 - 5) // 2 + 1 = 5."""
    found = layers(spec_of(CONVOLUTIONAL), (1, 28, 28), 10)
    assert [places for _, places in found] == [28**2, 14**2, 5**2, 1, 1]


MODULES = {
    "basic": (PreactivationNet, {"family": "preactivation", "depth": 14, "channels": 3}),
    "wide": (PreactivationNet, {"family": "preactivation", "depth": 10, "widen": 2, "channels": 2}),
    "bottleneck": (
        PreactivationNet,
        {"family": "preactivation", "depth": 20, "block": "bottleneck", "channels": 2},
    ),
    "resnet": (resnet, {"family": "resnet", "blocks": (1, 2, 1), "channels": 3}),
    "resnet of bottlenecks": (
        resnet, {"family": "resnet", "blocks": (1, 2), "block": "bottleneck", "channels": 2},
    ),
    "densenet": (
        densenet, {"family": "densenet", "blocks": (2, 1, 3), "growth": 3, "channels": 5},
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(3, 8, 8), (1, 9, 6), (1, 4, 4)])
@pytest.mark.parametrize("name", MODULES)
def test_of_a_module_every_layer_is_counted_at_every_place(name, shape):
    """As an image goes through it."""
    make, net = MODULES[name]
    spec = spec_of(net)
    module, seen = make(spec, shape[0], 10).eval(), []
    for part in module.modules():
        if isinstance(part, nn.Conv2d | nn.Linear):
            part.register_forward_hook(
                lambda part, _, made: seen.append((part.weight.numel(), prod(made.shape[2:])))
            )
    module(torch.zeros(1, *shape))
    assert sorted(layers(spec, shape, 10)) == sorted(seen)


def test_nets_of_the_papers_are_as_large_as_is_known():
    """On CIFAR-10: half a billion multiplications, and forty million (He et al. 2016)."""
    resnet_18 = spec_of({"family": "resnet", "blocks": (2, 2, 2, 2)})
    assert products(resnet_18, (3, 32, 32), 10) == pytest.approx(0.56e9, rel=0.01)
    preresnet_20 = spec_of({"family": "preactivation", "depth": 20})
    assert products(preresnet_20, (3, 32, 32), 10) == pytest.approx(41e6, rel=0.02)
