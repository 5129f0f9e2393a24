"""Declared layers and sizes equal those of the nets that are built."""

from math import prod
from typing import Literal

import pytest
import torch
from pydantic import TypeAdapter, ValidationError
from torch import nn

from flatlas.nets import build_net
from flatlas.nets.densenet import densenet
from flatlas.nets.preactivation import PreactivationNet
from flatlas.nets.resnet import resnet
from flatlas.plan.families import FAMILIES, NetSpec
from flatlas.plan.family import Family, Layer, LayerSize

STAGES = (
    {"channels": 6, "kernel": 5, "padding": 2, "pool": 2},
    {"channels": 6, "kernel": 3, "padding": 1, "skip": True},
    {"channels": 16, "kernel": 5, "stride": 2, "pool": 2},
)
CONVOLUTIONAL = {"family": "convolutional", "stages": STAGES, "hidden": (8,)}
NETS = {
    "dense": {"family": "dense", "hidden": (30, 20)},
    "convolutional": CONVOLUTIONAL,
    "pooled": CONVOLUTIONAL | {"global_pool": True},
}


def spec_of(net):
    return TypeAdapter(NetSpec).validate_python(net)


@pytest.mark.parametrize("outputs", [1, 10])
@pytest.mark.parametrize("name", NETS)
def test_declared_weights_are_those_of_the_built_net(name, outputs):
    spec, shape = spec_of(NETS[name]), (1, 28, 28)
    named = build_net(spec, shape, outputs).shapes.items()
    counted = [weights for weights, _ in spec.layer_sizes(shape, outputs)]
    assert counted == [prod(shape) for name, shape in named if "weight" in name]


@pytest.mark.parametrize("name", ["dense", "convolutional"])
def test_declared_layers_are_those_of_the_built_net(name):
    spec = spec_of(NETS[name])
    built = build_net(spec, (1, 28, 28), 10)
    assert [layer.name for layer in spec.layers] == [layer.name for layer in built.layers]
    assert spec.names("convolution") == [layer.name for layer in built.convolutions]
    assert spec.names("dense") == [layer.name for layer in built.dense_layers]
    assert spec.only_dense == built.only_dense
    skipped = [layer.name for layer in built.convolutions if layer.skip]
    assert [*spec.skipped_layers] == skipped == (["conv2"] if built.convolutions else [])


def test_a_convolution_is_used_at_every_place_of_its_output():
    """28 -> 28 (pooled to 14) -> 14 -> (14 - 5) // 2 + 1 = 5."""
    found = spec_of(CONVOLUTIONAL).layer_sizes((1, 28, 28), 10)
    assert [places for _, places in found] == [28**2, 14**2, 5**2, 1, 1]


PREACTIVATION, RESNET = {"family": "preactivation"}, {"family": "resnet"}
MODULES = [
    (PreactivationNet, PREACTIVATION | {"depth": 14, "channels": 3}),
    (PreactivationNet, PREACTIVATION | {"depth": 10, "widen": 2, "channels": 2}),
    (PreactivationNet, PREACTIVATION | {"depth": 20, "block": "bottleneck", "channels": 2}),
    (resnet, RESNET | {"blocks": (1, 2, 1), "channels": 3}),
    (resnet, RESNET | {"blocks": (1, 2), "block": "bottleneck", "channels": 2}),
    (densenet, {"family": "densenet", "blocks": (2, 1, 3), "growth": 3, "channels": 5}),
]


@pytest.mark.parametrize("shape", [(3, 8, 8), (1, 9, 6), (1, 4, 4)])
@pytest.mark.parametrize(("make", "net"), MODULES)
def test_every_layer_of_a_module_is_counted_at_every_place(make, net, shape):
    """Compared with an image that goes through it."""
    spec = spec_of(net)
    module, seen = make(spec, shape[0], 10).eval(), []
    for part in module.modules():
        if isinstance(part, nn.Conv2d | nn.Linear):
            part.register_forward_hook(
                lambda part, _, made: seen.append((part.weight.numel(), prod(made.shape[2:])))
            )
    module(torch.zeros(1, *shape))
    assert sorted(spec.layer_sizes(shape, 10)) == sorted(seen)


def test_nets_of_the_papers_have_the_known_size():
    """On CIFAR-10: half a billion multiplications, and forty million (He et al. 2016)."""
    resnet_18 = spec_of({"family": "resnet", "blocks": (2, 2, 2, 2)})
    assert resnet_18.size((3, 32, 32), 10).products == pytest.approx(0.56e9, rel=0.01)
    preresnet_20 = spec_of({"family": "preactivation", "depth": 20})
    assert preresnet_20.size((3, 32, 32), 10).products == pytest.approx(41e6, rel=0.02)


def test_each_family_is_a_member_of_the_union_and_compared_with_its_nets():
    """A user's own net declares no weights."""
    compared = [*NETS.values(), *(net for _, net in MODULES)]
    assert {net["family"] for net in compared} | {"own"} == {*FAMILIES}
    for name, family in FAMILIES.items():
        assert family.__module__ == f"flatlas.plan.families.{name}"


class Whole(Family):
    family: Literal["whole"]
    width: int

    @property
    def slug(self):
        return f"whole{self.width}"

    @property
    def layers(self):
        return (Layer("conv1", "convolution"), *[Layer("fc1", "dense")] * bool(self.width))

    def layer_sizes(self, input_shape, outputs):
        yield LayerSize(self.width, places=1)


def test_a_net_whose_last_layer_is_not_dense_is_refused():
    assert Whole(family="whole", width=1).names("dense") == ["fc1"]
    with pytest.raises(ValidationError, match="the last layer of whole0 is not dense"):
        Whole(family="whole", width=0)
