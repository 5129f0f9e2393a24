"""The measures as a library: docs/library.md as it stands, and against torch itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from test_adding import blocks
from torch import nn
from torch.autograd.functional import hessian
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from flatlas.errors import FlatlasError
from flatlas.measures.own import solution_of, take
from flatlas.plan.measure_specs import MEASURES

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"


@pytest.fixture(scope="module")
def module():
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(8, 4, bias=False), nn.Tanh(), nn.Linear(4, 3))


@pytest.fixture(scope="module")
def images():
    random = torch.Generator().manual_seed(1)
    labels = torch.arange(20) % 3
    return torch.rand(20, 2, 2, 2, generator=random), labels


def test_its_hessian_is_that_of_torch(module, images):
    inputs, labels = images
    exact = {name: value.detach().double() for name, value in module.named_parameters()}
    sizes = [value.numel() for value in exact.values()]

    def loss(w):
        parts = zip(exact.items(), w.split(sizes), strict=True)
        weights = {name: part.view_as(value) for (name, value), part in parts}
        return cross_entropy(functional_call(module, weights, (inputs.double(),)), labels)

    w = torch.cat([value.flatten() for value in exact.values()])
    expected = torch.linalg.eigvalsh(hessian(loss, w)).flip(0)[:3]
    found = take("hessian", solution_of(module, *images, *images), top=3, probes=2)
    values = torch.tensor(found["eigenvalues"]["eigenvalue"].to_numpy())
    torch.testing.assert_close(values, expected, rtol=1e-8, atol=0)


def test_the_module_stays_as_it_is(module, images):
    before = {name: value.clone() for name, value in module.state_dict().items()}
    module.train()
    take("sharpness", solution_of(module, *images, *images), by="corners", box=1e-3)
    assert module.training
    for name, value in module.state_dict().items():
        assert torch.equal(value, before[name])


def test_what_is_mistyped_is_refused(module, images):
    solution = solution_of(module, *images, *images)
    with pytest.raises(FlatlasError, match=r"'hesian' is no measure.*Did you mean 'hessian'\?"):
        take("hesian", solution)
    with pytest.raises(FlatlasError, match=r"take\('hessian'\): tops .*Did you mean 'top'\?"):
        take("hessian", solution, tops=3)
    with pytest.raises(FlatlasError, match="at names moments of a training"):
        take("hessian", solution, at=["met"])


# Options of those that have some that are not left at their default.
ASKED = {
    "test_images": {"sizes": [5]},
    "scaled_shift": {"scales": [0.5, 1.0]},
    "sharpness": {"box": 1e-3, "epochs": 2},
    "spectral_density": {"probes": 2},
    "true_regret": {"radii": [0.1]},
    "regret_slice": {"radius": 0.1},
    "contrastive_flatness": {"box": 1e-3, "minibatches": 2},
}


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_taken_or_says_that_it_takes_more(name, module, images):
    solution = solution_of(module, *images, *images)
    fields = MEASURES[name].model_fields
    asked = {"layer": "fc"} if "layer" in fields else {}
    asked |= {"batch": 8} if "batch" in fields else {}
    if MEASURES[name].of_any_module:
        tables = take(name, solution, **asked, **ASKED.get(name, {}))
        assert all(len(table) for table in tables.values())
    else:
        with pytest.raises(FlatlasError, match=f"'{name}' takes more than a module"):
            take(name, solution, **asked)


def test_how_a_module_began_is_not_known(module, images):
    (row,) = take("norms", solution_of(module, *images, *images))["summary"].to_dict("records")
    assert row["distance"] != row["distance"] and row["weight_norm"] > 0


def test_weights_in_float64_stay_what_they_are(images):
    torch.manual_seed(0)
    exact = nn.Sequential(nn.Flatten(), nn.Linear(8, 3)).double()
    solution = solution_of(exact, *images, *images)
    assert torch.equal(solution.parameters["fc.weight"][0], exact[1].weight.detach().T)


@pytest.mark.parametrize("place", range(len(blocks("library.md"))))
def test_the_page_runs_as_it_stands(tmp_path, place):
    script = tmp_path / "example.py"
    script.write_text(blocks("library.md")[place])
    environment = os.environ | {"PYTHONPATH": str(WORKFLOW)}
    done = subprocess.run(
        [sys.executable, script], env=environment, check=True, capture_output=True, text=True
    )
    assert ("eigenvalue" in done.stdout) or ("0.333" in done.stdout)


def test_a_module_without_a_dense_layer_is_told_what_it_lacks(images):
    with pytest.raises(FlatlasError, match=r"Flatten has no nn\.Linear"):
        solution_of(nn.Flatten(), *images, *images)
