"""Each script can be run again by hand, from the JSON beside its log: the way to debug a job."""

import json
import subprocess
import sys

import pytest
from pydantic import TypeAdapter

from flatlas.plan import code
from flatlas.plan.data_specs import SourceSpec
from flatlas.plan.fingerprint import closure, fingerprint
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.training_specs import RunSpec

# Run a script as its own main program, then tell which modules of the library it has loaded.
TELLING = """
import runpy, sys
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
print(*(name for name in sys.modules if name.split(".")[0] == "flatlas"))
"""
# For each rule: its script, the results that are the same bytes every time (a provenance and
# times.csv tell the time), and the code that the rule says they depend on.
RULES = {
    "source": (
        "source",
        "data/sources/*/images.safetensors",
        lambda params: code.source_code(TypeAdapter(SourceSpec).validate_python(params["spec"])),
    ),
    "subset": (
        "subset", "data/subsets/*/samples.parquet", lambda params: code.stage_code("subset"),
    ),
    "train": (
        "train", "runs/*/[who]*", lambda params: code.training_code(RunSpec(**params["spec"])),
    ),
    "measure_duality": (
        "measure",
        "measures/duality/*/*.parquet",
        lambda params: code.measure_code(MeasureSpec(**params["spec"])),
    ),
    "figures": (
        "figure", "tiny/duality/*.[!j]*", lambda params: code.figure_code(params["study"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_by_hand_a_job_gives_the_same_bytes(demo, rule):
    script, results, _ = RULES[rule]
    before = demo.contents(results)
    for path in (demo / "results").glob(results):
        path.unlink()
    by_hand(demo, script, job_of(demo, rule))
    made = demo.contents(results)
    assert made
    assert {name: before[name] for name in made} == made


@pytest.mark.parametrize("rule", RULES)
def test_a_job_loads_no_code_that_its_fingerprint_leaves_out(demo, rule, monkeypatch):
    """What is imported by name at run time too, which no walk through the imports can see."""
    script, _, code_of = RULES[rule]
    job = job_of(demo, rule)
    params = json.loads(job.read_text())["params"]
    assert code_of(params) == params["code"]
    monkeypatch.setattr(code, "fingerprint", lambda *roots: roots)
    watched = {str(root) for root in closure(code_of(params))}
    loaded = set(by_hand(demo, script, job).split())
    without_results = {name for name in loaded if name.startswith(("flatlas.plan", "flatlas.jobs"))}
    assert len(loaded - without_results) > 3
    assert loaded - without_results <= watched


def test_a_fingerprint_of_no_roots_but_the_script_would_not_do():
    """The modules that a spec names are not among what the script imports."""
    alone = fingerprint(code.script("train"))
    assert alone != fingerprint(code.script("train"), "flatlas.training.optimizers.sgd")


def job_of(checkout, rule):
    """The JSON that one job of a rule left beside its log."""
    return sorted((checkout / f"results/logs/{rule}").glob("*.json"))[-1]


def by_hand(checkout, script, job):
    """Run a script with a job's JSON; the modules of the library that it has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", TELLING, f"workflow/scripts/{script}.py", job],
        cwd=checkout.root, env=checkout.env | {"PYTHONPATH": str(checkout / "workflow")},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]
