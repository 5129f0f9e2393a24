"""A user's own module: built with its arguments, or refused with the reason."""

import sys

import pytest
import torch

from flatlas.errors import FlatlasError
from flatlas.nets import build_net
from flatlas.plan.net_specs import Own

SOURCE = """
from torch import nn

class Tiny(nn.Sequential):
    def __init__(self, width=4):
        super().__init__(nn.Flatten(), nn.Linear(12, width), nn.Tanh(), nn.Linear(width, 3))

def tiny_of(width):
    return Tiny(width)

def nothing():
    return None

number = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which Snakemake works, with a module; both are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "own_nets.py").write_text(SOURCE)
    yield tmp_path
    for name in ("own_nets", "broken_net"):
        sys.modules.pop(name, None)


def built(module, **arguments):
    return build_net(Own(family="own", module=module, arguments=arguments), (3, 2, 2), 3)


@pytest.mark.parametrize("what", ["Tiny", "tiny_of"])
def test_a_class_or_a_function_makes_it(folder, what):
    net = built(f"own_nets:{what}", width=5)
    assert net.shapes["features.1.weight"] == (5, 12)
    weights, images = net.initial((0,)), torch.rand(1, 2, 3, 2, 2)
    weight, bias = (weights[f"features.1.{kind}"][0] for kind in ("weight", "bias"))
    inner = images[0].flatten(1) @ weight.T + bias
    expected = inner.tanh() @ weights["fc.weight"][0] + weights["fc.bias"][0]
    torch.testing.assert_close(net.forward(weights, images)[0], expected)


@pytest.mark.parametrize(
    ("module", "arguments", "said"),
    [
        ("own_nets:Tyny", {}, "has no class or function 'Tyny'. Did you mean 'Tiny'?"),
        ("own_nets:number", {}, "has no class or function 'number'."),
        ("own_nets:Tiny", {"depth": 2}, "do not suit 'own_nets:Tiny': .*depth"),
        ("own_nets:nothing", {}, "makes a NoneType: it has to be an nn.Module."),
        ("broken_net:Net", {}, "'broken_net' can't be imported: no luck"),
        ("json:Net", {}, r"'json' is also the name of .*json.__init__\.py: give yours another"),
    ],
)
def test_what_makes_no_net_is_refused(folder, module, arguments, said):
    (folder / "broken_net.py").write_text("raise ValueError('no luck')")
    (folder / "json.py").write_text("")
    with pytest.raises(FlatlasError, match=said):
        built(module, **arguments)
