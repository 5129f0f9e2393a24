"""Nets of a user's own in a plan: where their file is looked for, and what of it is code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan.jobs import jobs_of

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
FILES = {
    "own_plan.py": "import yaml\nfrom parts import layers\nfrom parts.deep import norm\n",
    "parts/__init__.py": "WIDTH = 3\n",
    "parts/layers.py": "from . import shapes\n",
    "parts/shapes.py": "SIDE = 3\n",
    "parts/deep/__init__.py": "",
    "parts/deep/norm.py": "from ..other import EPSILON\n",
    "parts/other.py": "EPSILON = 1\n",
    "aside.py": "ASIDE = 1\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which Snakemake works."""
    root = tmp_path / "work"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.chdir(root)
    return root


def planned(plan_of, **net):
    return plan_of(study={"runs.base.net": {"family": "own", **net}, "measures.hidden.layer": "fc"})


def test_a_module_is_planned_without_being_read(folder, plan_of):
    runs = planned(plan_of, module="own_plan:Net", arguments={"width": 3}).runs
    assert all("-net-" in identity for identity in runs)
    others = planned(plan_of, module="own_plan:Net", arguments={"width": 4}).runs
    assert not runs.keys() & others.keys()


def test_given_weights_are_read_by_the_training(folder, plan_of):
    (folder / "mine.safetensors").touch()
    plan = planned(plan_of, module="own_plan:Net", weights="mine.safetensors")
    for run in plan.runs:
        assert jobs_of(plan)[run].inputs["weights"] == "mine.safetensors"
    drawn = planned(plan_of, module="own_plan:Net")
    assert not plan.runs.keys() & drawn.runs.keys()


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ("yours.safetensors", "net.weights is 'yours.safetensors', but .*work has no such file."),
        ("mine.pt", r"net.weights: 'mine.pt' has to be a .safetensors file"),
    ],
)
def test_weights_that_are_not_there_or_pickled_are_refused(folder, plan_of, weights, said):
    (folder / "mine.pt").touch()
    with pytest.raises(FlatlasError, match=said):
        planned(plan_of, module="own_plan:Net", weights=weights)


def test_no_kernel_is_that_of_given_weights(folder, plan_of):
    (folder / "mine.safetensors").touch()
    net = {"family": "own", "module": "own_plan:Net", "weights": "mine.safetensors"}
    measures = {"hidden": {"measure": "gp_prior", "kernel": "monte_carlo"}}
    asked = {"runs.base.net": net, "runs.base.data.positive": [0], "measures": measures}
    with pytest.raises(FlatlasError, match=r"hidden\.kernel is 'monte_carlo', that of random nets"):
        plan_of(study=asked)


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("own_plans:Net", r"net.module is 'own_plans:Net', but .*work has no own_plans.py."),
        ("parts.more:Net", r"net.module is 'parts.more:Net', but .*work has no parts/more.py."),
        ("own_plan.Net", r"net.module: 'own_plan.Net' has to be written as 'my_nets:Tiny'"),
        ("../own_plan:Net", r"net.module: '../own_plan:Net' has to be written as"),
    ],
)
def test_a_module_that_is_not_there_is_refused(folder, plan_of, module, said):
    with pytest.raises(FlatlasError, match=said):
        planned(plan_of, module=module)


def fingerprint(folder):
    """As a fresh process takes it there."""
    code = (
        "from types import SimpleNamespace as Spec;"
        "from flatlas.plan.code import stage_code, training_modules;"
        "from flatlas.plan.families.own import Own;"
        "net = Own(family='own', module='own_plan:Net');"
        "modules = training_modules(Spec(net=net, optimizer=Spec(name='sgd')));"
        "print(stage_code('train', *modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(WORKFLOW)},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def test_its_code_is_all_that_it_imports_from_its_folder(folder):
    before = fingerprint(folder)
    for name, text in FILES.items():
        (folder / name).write_text(text + "# A comment.\n")
    assert fingerprint(folder) == before
    for name, text in FILES.items():
        (folder / name).write_text(text + "MORE = 1\n")
        assert (fingerprint(folder) == before) == (name == "aside.py"), name
        (folder / name).write_text(text)
