"""A dense net takes the weights of a torch module of the same shape, and refuses others."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from flatlas.errors import FlatlasError
from flatlas.nets.dense import build
from flatlas.plan.families.dense import DenseNet

SHAPE = (1, 3, 3)
# So many layers that text would sort the tenth before the second.
HIDDEN = (4,) * 10


def module(hidden=HIDDEN, bias=True, outputs=1):
    torch.manual_seed(0)
    widths = (9, *hidden, outputs)
    layers = [nn.Flatten()]
    for n_in, n_out in pairwise(widths):
        layers += [nn.Linear(n_in, n_out, bias=bias), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def given(path, bias=True):
    spec = DenseNet(family="dense", hidden=HIDDEN, bias=bias, weights=str(path))
    return build(spec, SHAPE, outputs=1)


@pytest.mark.parametrize("bias", [True, False])
def test_it_computes_what_the_module_computes(tmp_path, bias):
    file, made = tmp_path / "a.safetensors", module(bias=bias)
    save_file(made.state_dict(), file)
    net = given(file, bias=bias)
    images = torch.rand(5, *SHAPE, generator=torch.Generator().manual_seed(1))
    found = net.forward(net.initial([0, 7]), images.expand(2, -1, -1, -1, -1))
    expected = made(images).detach().numpy()
    np.testing.assert_allclose(found.numpy(), np.stack([expected] * 2), rtol=1e-5)
    assert net.trained, "where it began is unknown"


@pytest.mark.parametrize(
    "other",
    [
        module(hidden=(4,) * 9),
        module(hidden=(5, *HIDDEN[1:])),
        module(bias=False),
        module(outputs=2),
        nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(2, 1)),
        nn.Sequential(*module(), nn.LayerNorm(1)),
    ],
)
def test_weights_of_another_net_are_refused_by_name(tmp_path, other):
    file = tmp_path / "other.safetensors"
    save_file(other.state_dict(), file)
    with pytest.raises(FlatlasError, match=r"other\.safetensors.*fit"):
        given(file)


def test_it_names_a_tensor_that_no_dense_layer_has(tmp_path):
    file = tmp_path / "other.safetensors"
    save_file(module().state_dict() | {"1.scale": torch.ones(4)}, file)
    with pytest.raises(FlatlasError, match=r"1\.scale"):
        given(file)


@pytest.mark.parametrize(
    ("spoil", "said"), [(lambda bias: bias * torch.nan, "NaN"), (torch.Tensor.char, "int8")]
)
def test_weights_that_are_no_numbers_are_refused(tmp_path, spoil, said):
    file, state = tmp_path / "spoilt.safetensors", module().state_dict()
    save_file(state | {"3.bias": spoil(state["3.bias"])}, file)
    with pytest.raises(FlatlasError, match=rf"spoilt\.safetensors.*{said}"):
        given(file)


def test_a_file_that_is_no_safetensors_is_refused(tmp_path):
    (tmp_path / "text.safetensors").write_text("no weights")
    with pytest.raises(FlatlasError, match=r"text\.safetensors.*can't be read"):
        given(tmp_path / "text.safetensors")
