"""A user's own nets in a plan: where their file is looked for, and which code counts."""

import importlib.machinery
from pathlib import Path

import pytest
from small_configuration import STUDY

from flatlas.plan.jobs import jobs_of

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
FILES = {
    "own_plan.py": "import yaml\nfrom parts import layers as Net\nfrom parts.deep import norm\n",
    "parts/__init__.py": "WIDTH = 3\n",
    "parts/layers.py": "from . import shapes\n",
    "parts/shapes.py": "SIDE = 3\n",
    "parts/deep/__init__.py": "",
    "parts/deep/norm.py": "from ..other import EPSILON\n",
    "parts/other.py": "EPSILON = 1\n",
    "aside.py": "ASIDE = 1\n",
}
WEIGHTS = {"weights": "mine.safetensors"}


def own(**net):
    """A study with an own net, and a measure of its last layer."""
    net = {"family": "own", "module": "own_plan:Net", **net}
    return {"runs.base.net": net, "measures.hidden.layer": "fc"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which Snakemake works."""
    root = tmp_path / "work"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name in ("mine.safetensors", "mine.pt"):
        (root / name).touch()
    monkeypatch.chdir(root)
    return root


def test_arguments_and_given_weights_make_another_run(folder, plan_of):
    """Neither the module nor the weights are read for the plan."""
    plans = [plan_of(study=own(**net)) for net in ({}, {"arguments": {"width": 4}}, WEIGHTS)]
    runs = [run for plan in plans for run in plan.runs]
    assert all("-net-" in identity for identity in runs)
    assert len({*runs}) == len(runs)
    jobs = jobs_of(plans[-1])
    assert {jobs[run].inputs["weights"] for run in plans[-1].runs} == {"mine.safetensors"}


def names(plan):
    """The readable part of each run's id."""
    return sorted(identity.rpartition("-")[0] for identity in plan.runs)


def test_the_id_of_a_checkpoint_has_its_file_and_that_of_a_training_its_optimizer(folder, plan_of):
    trained = [
        "digits-10pc-net-sgd0.05-b5",
        "digits-10pc-net-sgd0.1-b10",
        "digits-10pc-net-sgd0.1-b5",
    ]
    assert names(plan_of(study=own())) == names(plan_of(study=own(**WEIGHTS))) == sorted(trained)
    files = ["early.safetensors", "by/hand/late (2.5).safetensors"]
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    study = own() | {
        "runs.base.stop.epochs": 0,
        "sweeps": {"alpha": {"run": "base", "grid": {"net.weights": files}}},
        "figures": {"fig1": STUDY["figures"]["fig1"]},
    }
    plan = plan_of(study=study)
    assert names(plan) == ["digits-10pc-net-early", "digits-10pc-net-late__2.5_"]
    assert {identity.rpartition("-")[0] for identity in plan.measurements} == {*names(plan)}


def test_the_id_of_a_run_that_starts_from_another_has_its_optimizer(folder, plan_of):
    study = own(**WEIGHTS)
    later = plan_of(study=study).studies["flat"].runs["base"].model_dump(exclude_none=True)
    later |= {"start": {"run": "base"}, "stop": {"epochs": 0}}
    sweep = {"run": "later", "points": [{}]}
    plan = plan_of(study=study | {"runs.later": later, "sweeps.alpha": sweep})
    (entry,) = plan.figures["flat_fig1"].entries
    assert entry.run.startswith("digits-10pc-net-sgd0.1-b5-")


@pytest.mark.parametrize("study", [own(), own(**WEIGHTS), own() | {"runs.base.stop.epochs": 0}])
def test_an_expected_error_without_a_checkpoint_is_refused(folder, refusal, study):
    message = refusal(study | {"runs.base.expected.train_error": 0})
    assert message.startswith("runs.base: expected ")


def test_a_package_hides_a_module_of_its_name_as_in_python(folder, plan_of):
    package = folder / "own_plan" / "__init__.py"
    package.parent.mkdir()
    package.write_text("Net = None\n")
    spec = importlib.machinery.PathFinder.find_spec("own_plan", [str(folder)])
    assert plan_of(study=own()).own_files == {str(Path(spec.origin).relative_to(folder))}


PRIOR = {"measure": "gp_prior", "kernel": "monte_carlo"}


@pytest.mark.parametrize(
    ("study", "place", "said"),
    [
        (own(weights="yours.safetensors"), "net.weights is 'yours.safetensors'", "no such file"),
        (own(weights="mine.pt"), "net.weights: 'mine.pt'", ".safetensors"),
        (own(module="own_plans:Net"), "net.module is 'own_plans:Net'", "has no own_plans.py"),
        (own(module="parts.more:Net"), "net.module is 'parts.more:Net'", "has no parts/more.py"),
        (own(module="own_plan:Nets"), "net.module is 'own_plan:Nets'", "Did you mean 'Net'?"),
        (own(module="own_plan.Net"), "net.module: 'own_plan.Net'", "'my_nets:Tiny'"),
        (own(module="own_plan.py:Net"), "net.module: 'own_plan.py:Net'", "'own_plan:Net'"),
        (own(module="../own_plan:Net"), "net.module: '../own_plan:Net'", "'my_nets:Tiny'"),
    ],
)
def test_a_missing_or_unsafe_file_is_refused(folder, refusal, study, place, said):
    message = refusal(study)
    assert message.startswith(f"runs.base.{place}")
    assert said in message


def test_a_sampled_kernel_with_given_weights_is_refused(folder, refusal):
    study = own(**WEIGHTS) | {"runs.base.data.positive": [0], "measures": {"hidden": PRIOR}}
    assert refusal(study).startswith("measures.hidden.kernel is 'monte_carlo'")


FINGERPRINT = """
from types import SimpleNamespace as Spec
from flatlas.plan import code

def taken():
    net = Spec(family="own", module="own_plan:Net", weights="mine.safetensors")
    modules = code.training_modules(Spec(net=net, optimizer=Spec(name="sgd")))
    return code.stage_code("train", *modules)
"""


def test_the_code_of_an_own_net_is_its_weights_and_its_imports_from_its_folder(folder, after_edits):
    edits = [(name, "", more) for more in ("# A comment.\n", "MORE = 1\n") for name in FILES]
    edits.append(("mine.safetensors", "", "other weights"))
    before, *after = after_edits(folder, FINGERPRINT, edits, library=WORKFLOW)
    changed = [edit for edit, code in zip(edits, after, strict=True) if code != before]
    code = [(name, "", "MORE = 1\n") for name in FILES if name != "aside.py"]
    assert changed == [*code, edits[-1]]
