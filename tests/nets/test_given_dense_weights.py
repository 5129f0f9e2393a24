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


STATE = module().state_dict()


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (module(hidden=(4,) * 9).state_dict(), "fit"),
        (module(hidden=(5, *HIDDEN[1:])).state_dict(), "fit"),
        (module(bias=False).state_dict(), "fit"),
        (module(outputs=2).state_dict(), "fit"),
        (nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(2, 1)).state_dict(), "fit"),
        (nn.Sequential(*module(), nn.LayerNorm(1)).state_dict(), "fit"),
        (STATE | {"1.scale": torch.ones(4)}, r"1\.scale"),
        (STATE | {"3.bias": STATE["3.bias"] * torch.nan}, "NaN"),
        (STATE | {"3.bias": STATE["3.bias"].char()}, "int8"),
    ],
)
def test_other_weights_are_refused_by_name(tmp_path, other, said):
    file = tmp_path / "other.safetensors"
    save_file(other, file)
    with pytest.raises(FlatlasError, match=rf"other\.safetensors.*{said}"):
        given(file)


def test_a_file_that_is_no_safetensors_is_refused(tmp_path):
    (tmp_path / "text.safetensors").write_text("no weights")
    with pytest.raises(FlatlasError, match=r"text\.safetensors.*can't be read"):
        given(tmp_path / "text.safetensors")
