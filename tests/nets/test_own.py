"""A user's own module: built with its arguments, or refused with a reason."""

import re

import pytest
import torch
from printed import blocks
from safetensors.torch import save_file, save_model

from flatlas.errors import FlatlasError
from flatlas.nets import build_net
from flatlas.plan.families.own import Own

SOURCE = """
import torch
from torch import nn

class Tiny(nn.Sequential):
    def __init__(self, width=4):
        super().__init__(nn.Flatten(), nn.Linear(12, width), nn.Tanh(), nn.Linear(width, 3))

def tiny_of(width):
    return Tiny(width)

def doubled(width):
    return Tiny(width).double()

def halved(width):
    return Tiny(width).bfloat16()

def nothing():
    return None

class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 12, 2).to(memory_format=torch.channels_last)
        self.one, self.other, self.last = nn.Linear(12, 12), nn.Linear(12, 12), nn.Linear(12, 3)
        self.other.weight = self.one.weight

    def forward(self, images):
        return self.last(self.other(self.one(self.conv(images).flatten(1)).tanh()))

def normed():
    return nn.Sequential(nn.Flatten(), nn.RMSNorm(12), nn.Linear(12, 3))

number = 3
"""


@pytest.fixture
def folder(working_folder):
    (working_folder / "own_nets.py").write_text(SOURCE)
    return working_folder


def built(module, weights=None, **arguments):
    own = Own(family="own", module=module, arguments=arguments, weights=weights)
    return build_net(own, (3, 2, 2), 3)


@pytest.mark.parametrize("what", ["Tiny", "tiny_of", "doubled", "halved"])
def test_a_class_or_a_function_makes_the_module(folder, what):
    net = built(f"own_nets:{what}", width=5)
    assert net.shapes["features.1.weight"] == (5, 12)
    weights, images = net.initial((0,)), torch.rand(1, 2, 3, 2, 2)
    weight, bias = (weights[f"features.1.{kind}"][0] for kind in ("weight", "bias"))
    inner = images[0].flatten(1) @ weight.T + bias
    expected = inner.tanh() @ weights["fc.weight"][0] + weights["fc.bias"][0]
    torch.testing.assert_close(net.forward(weights, images)[0], expected)


@pytest.mark.parametrize(
    ("module", "arguments", "reason"),
    [
        ("own_nets:Tyny", {}, "has no class or function 'Tyny'. Did you mean 'Tiny'?"),
        ("own_nets:number", {}, "has no class or function 'number'."),
        ("own_nets:Tiny", {"depth": 2}, "net.arguments: 'own_nets:Tiny' .*depth"),
        ("own_nets:nothing", {}, "'own_nets:nothing' .* NoneType"),
        ("broken_net:Net", {}, "'broken_net' can't be imported: no luck"),
        ("json:Net", {}, r"'json' is also the name of .*json.__init__\.py"),
    ],
)
def test_a_name_that_makes_no_net_is_refused(folder, module, arguments, reason):
    (folder / "broken_net.py").write_text("raise ValueError('no luck')")
    (folder / "json.py").write_text("")
    with pytest.raises(FlatlasError, match=reason):
        built(module, **arguments)


def test_a_module_begins_with_the_weights_of_a_file(folder):
    module = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(12, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)
    )
    save_file(module.state_dict(), folder / "mine.safetensors")
    net = built("own_nets:Tiny", weights="mine.safetensors")
    images = torch.rand(2, 5, 3, 2, 2)
    for row, logits in enumerate(net.forward(net.initial((0, 7)), images)):
        torch.testing.assert_close(logits, module(images[row]))


def test_a_norm_without_eps_is_in_float64_that_of_the_training(folder):
    net = built("own_nets:normed")
    images = 1e-4 * torch.rand(1, 5, 3, 2, 2)
    exact = {name: value.double() for name, value in net.initial((0,)).items()}
    expected = net.forward(net.initial((0,)), images).double()
    torch.testing.assert_close(net.forward(exact, images.double()), expected, rtol=1e-5, atol=1e-7)


@pytest.fixture
def tied(folder):
    """A module with tied weights, and others with channels last."""
    made = {}
    exec(SOURCE, made)
    return made["Tied"]()


def as_printed(module):
    """Save it by the last lines of the page's example."""
    _, example = blocks("bring-your-own.md")[:2]
    exec(re.sub(r"(?m)^(from my_nets|net = ).*", "", example), {"net": module})


@pytest.mark.parametrize(
    "save", [as_printed, lambda module: save_model(module, "small.safetensors")]
)
def test_tied_weights_and_those_with_channels_last_are_read(tied, save):
    """safetensors' own save_model keeps only one of the tied weights."""
    save(tied)
    net = built("own_nets:Tied", weights="small.safetensors")
    images = torch.rand(1, 5, 3, 2, 2)
    torch.testing.assert_close(net.forward(net.initial((0,)), images)[0], tied(images[0]))


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"1.weight": torch.zeros(4, 12)}, r"1\.bias.*3\.weight.*3\.bias"),
        ({"1.weight": torch.zeros(5, 12)}, r"1\.weight.*\(5, 12\).*\(4, 12\)"),
    ],
)
def test_weights_of_another_net_are_refused(folder, state, reason):
    save_file(state, folder / "mine.safetensors")
    with pytest.raises(FlatlasError, match=reason):
        built("own_nets:Tiny", weights="mine.safetensors")
