"""The measures as a library: comparisons with torch."""

import pandas as pd
import pytest
import torch
from every_measure import OPTIONS
from printed import blocks
from seven_models import dense_hessian
from torch import nn
from torch.nn.utils import prune

import flatlas
from flatlas.errors import FlatlasError
from flatlas.measures import contrastive_flatness, regret_slice
from flatlas.measures.own import solution_of, take
from flatlas.plan.measure_specs import MEASURES

IMAGES = torch.rand(20, 2, 2, 2, generator=torch.Generator().manual_seed(1)), torch.arange(20) % 3


@pytest.fixture
def module():
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(8, 4, bias=False), nn.Tanh(), nn.Linear(4, 3))


@pytest.fixture
def solution(module):
    return solution_of(module, *IMAGES, *IMAGES)


@pytest.mark.parametrize("frozen", [False, True])
def test_the_hessian_is_that_of_torch_by_all_parameters(module, frozen):
    """Also by those that require no gradient."""
    expected = torch.linalg.eigvalsh(dense_hessian(module, *IMAGES)).flip(0)[:3]
    module[1].requires_grad_(not frozen)
    found = take("hessian", solution_of(module, *IMAGES, *IMAGES), top=3, probes=2)
    values = torch.tensor(found["eigenvalues"]["eigenvalue"].to_numpy())
    torch.testing.assert_close(values, expected, rtol=1e-8, atol=0)


def pruned(module):
    return prune.l1_unstructured(module, "weight", 0.5)


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
@pytest.mark.parametrize("change", [nn.utils.weight_norm, pruned])
def test_weights_that_a_module_computed_from_others_are_measured(module, change):
    """The computed weight is no parameter, and torch copies none that has a gradient."""
    change(module[1])
    module(IMAGES[0])
    found = take("hessian", solution_of(module, *IMAGES, *IMAGES), top=3, probes=2)
    values = torch.tensor(found["eigenvalues"]["eigenvalue"].to_numpy())
    exact = flatlas.measure(module, IMAGES, {"hessian": {"top": 3, "tolerance": 1e-10}})
    expected = torch.from_numpy(exact["hessian"].eigenvalues)
    torch.testing.assert_close(values, expected, rtol=1e-8, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_norm_without_eps_keeps_that_of_the_modules_precision(dtype):
    """Its inputs are about as large as the eps of float32, so the eps of float64 shows."""
    torch.manual_seed(0)
    first, norms = nn.Linear(8, 4), [nn.RMSNorm(4), nn.RMSNorm(4, eps=torch.finfo(dtype).eps)]
    first.weight.data *= 1e-3
    first.bias.data *= 1e-3
    rest = nn.Tanh(), nn.Linear(4, 3)
    module, explicit = (nn.Sequential(nn.Flatten(), first, one, *rest).to(dtype) for one in norms)
    matrix = dense_hessian(explicit, *IMAGES)
    found = take("hessian", solution_of(module, *IMAGES, *IMAGES), top=3, probes=2)
    values = torch.tensor(found["eigenvalues"]["eigenvalue"].to_numpy())
    torch.testing.assert_close(values, torch.linalg.eigvalsh(matrix).flip(0)[:3], rtol=1e-6, atol=0)
    assert module[2].eps is None


class Filtered(nn.Module):
    """Frequencies of the pixels are multiplied by a constant, a parameter or a buffer."""

    def __init__(self, constant, parameter):
        super().__init__()
        if parameter:
            self.constant = nn.Parameter(constant, requires_grad=False)
        else:
            self.register_buffer("constant", constant)
        torch.manual_seed(0)
        self.inner, self.last = nn.Linear(8, 4), nn.Linear(4, 3)

    def forward(self, images):
        seen = torch.fft.fft(images.flatten(1)) * self.constant
        return self.last(self.inner(torch.fft.ifft(seen).real).tanh())


CONSTANTS = {"a mask": torch.arange(8).to(torch.int8) % 2, "complex": torch.ones(8) * (1 + 0.5j)}


@pytest.mark.parametrize("constant", CONSTANTS.values(), ids=CONSTANTS)
def test_parameters_without_a_gradient_of_real_numbers_are_constants(constant):
    solution = solution_of(Filtered(constant, parameter=True), *IMAGES, *IMAGES)
    matrix = dense_hessian(Filtered(constant, parameter=False), *IMAGES)
    found = take("hessian", solution, top=3, probes=2)
    values = torch.tensor(found["eigenvalues"]["eigenvalue"].to_numpy())
    torch.testing.assert_close(values, torch.linalg.eigvalsh(matrix).flip(0)[:3], rtol=1e-8, atol=0)
    assert take("spectral_density", solution, probes=2)["summary"]["size"].item() == len(matrix)


def test_the_module_does_not_change(module):
    before = {name: value.clone() for name, value in module.state_dict().items()}
    module.train()
    take("sharpness", solution_of(module, *IMAGES, *IMAGES), by="corners", box=1e-3)
    assert module.training
    for name, value in module.state_dict().items():
        assert torch.equal(value, before[name])


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("hesian", {}, r"'hesian' is not a measure.*Did you mean 'hessian'\?"),
        ("hessian", {"tops": 3}, r"take\('hessian'\): tops .*Did you mean 'top'\?"),
        ("hessian", {"at": ["met"]}, r"take\('hessian'\): 'at' "),
        ("hessian", {"top": True}, r"^take\('hessian'\): top is True"),
        ("hessian", {"precision": "float32"}, r"^take\('hessian'\): in float32 products"),
        ("relative_flatness", {"layer": "fc7"}, r"'fc7'.* fc"),
    ],
)
def test_names_and_options_that_do_not_fit_are_refused(solution, name, options, said):
    with pytest.raises(FlatlasError, match=said):
        take(name, solution, **options)


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_taken_or_says_that_it_takes_more(solution, name, monkeypatch):
    monkeypatch.setattr(contrastive_flatness, "PROBES", 2)
    monkeypatch.setattr(regret_slice, "POINTS", 3)
    layer = {"layer": "fc"} if "layer" in MEASURES[name].model_fields else {}
    options = OPTIONS.get(name, {}) | layer
    if MEASURES[name].of_any_module:
        assert all(len(table) for table in take(name, solution, **options).values())
    else:
        with pytest.raises(FlatlasError, match=f"'{name}' needs more than a module"):
            take(name, solution, **options)


def test_the_relative_flatness_is_that_of_the_last_layer(solution):
    found, named = (
        take("relative_flatness", solution, **options)["summary"]
        for options in ({}, {"layer": "fc"})
    )
    pd.testing.assert_frame_equal(found, named)


def test_the_initial_weights_of_a_module_are_unknown(solution):
    (row,) = take("norms", solution)["summary"].to_dict("records")
    assert row["distance"] != row["distance"] and row["weight_norm"] > 0


def test_weights_in_float64_are_not_rounded():
    torch.manual_seed(0)
    exact = nn.Linear(8, 3).double()
    found = solution_of(nn.Sequential(nn.Flatten(), exact), *IMAGES, *IMAGES)
    assert torch.equal(found.parameters["fc.weight"][0], exact.weight.detach().T)


def test_the_example_of_a_gaussian_process_runs(python):
    """The others run from the wheel (tests/test_package.py)."""
    assert "0.333" in python(blocks("library.md")[-1])
