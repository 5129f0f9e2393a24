"""Each script can be run again by hand, from the JSON beside its log: the way to debug a job.

What it makes then lies under results/by-hand/, and nothing of the pipeline's own is touched.
"""

import json
import signal
import subprocess
import sys
import time

import pytest
from pydantic import TypeAdapter

from flatlas.plan import code
from flatlas.plan.data_specs import SourceSpec
from flatlas.plan.fingerprint import closure
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.training_specs import RunSpec

# For each rule: its script, the results that are the same bytes every time (a provenance and
# times.csv tell the time), and the modules that its spec picks by name.
RULES = {
    "source": (
        "source",
        "data/sources/*/images.safetensors",
        lambda params: code.source_modules(TypeAdapter(SourceSpec).validate_python(params["spec"])),
    ),
    "subset": (
        "subset", "data/subsets/*/samples.parquet", lambda params: [],
    ),
    "train": (
        "train", "runs/*/[who]*", lambda params: code.training_modules(RunSpec(**params["spec"])),
    ),
    "measure_duality": (
        "measure",
        "measures/duality/*/*.parquet",
        lambda params: code.measure_modules(MeasureSpec(**params["spec"])),
    ),
    "figures": (
        "figure",
        "tiny/duality/*.[!j]*",
        lambda params: code.figure_modules(params["spec"]["study"], params["spec"]["module"]),
    ),
    "scorecard": (
        "scorecard", "tiny/duality/scorecard.*", lambda params: [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_by_hand_a_job_gives_the_same_bytes_by_the_code_of_its_fingerprint(demo, rule):
    """Code that is imported by name at run time too, which no walk through the imports can see."""
    script, results, modules_of = RULES[rule]
    job, before = job_of(demo, rule), stamps(demo)
    loaded = demo.by_hand(script, job)
    made = demo.contents(f"by-hand/{results}")
    assert made
    pipeline = demo.contents(results)
    assert {name: pipeline[name.removeprefix("by-hand/")] for name in made} == made
    assert stamps(demo) == before

    params = json.loads(job.read_text())["params"]
    assert code.stage_code(script, *modules_of(params)) == params["code"]
    assert len(loaded) > 3
    roots = (code.SCRIPTS / f"{script}.py", *modules_of(params))
    assert loaded <= {str(root) for root in closure(roots)}


@pytest.mark.parametrize("threads", [1, 2])
def test_by_hand_a_job_has_its_own_number_of_threads(demo, threads):
    """Torch by itself takes every core, so one of the two is not what it would take."""
    job = job_of(demo, "train")
    job.write_text(json.dumps(json.loads(job.read_text()) | {"threads": threads}))
    done = training(demo, job)
    _, complaint = done.communicate()
    assert done.returncode == 0, complaint
    (provenance,) = (demo / "results/by-hand/runs").glob("*/provenance.json")
    assert json.loads(provenance.read_text())["threads"] == threads


def test_by_hand_an_interrupted_training_keeps_its_state_apart(demo):
    job = job_of(demo, "train")
    given = json.loads(job.read_text())
    given["params"]["spec"]["stop"] = {"loss_below": 1e-12, "epochs": 5000}
    job.write_text(json.dumps(given))
    before = stamps(demo)
    process = training(demo, job)
    state = demo / "results/by-hand/resume" / job.stem / "state.safetensors"
    while not state.exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert stamps(demo) == before


def job_of(checkout, rule):
    """The JSON that one job of a rule left beside its log."""
    which = {"figures": "figures/*_s4", "scorecard": "figures/*_duality_scorecard"}.get(
        rule, f"{rule}/*"
    )
    return sorted((checkout / "results/logs").glob(f"{which}.json"))[-1]


def training(checkout, job):
    """The script as a user starts it, who has set no number of threads."""
    unset = {name: value for name, value in checkout.env.items() if name != "OMP_NUM_THREADS"}
    return subprocess.Popen(
        [sys.executable, "workflow/scripts/train.py", job],
        cwd=checkout.root, env=unset | {"PYTHONPATH": str(checkout / "workflow")},
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def stamps(checkout):
    """When each file under results was written, but for those made by hand."""
    files = [path for path in (checkout / "results").rglob("*") if path.is_file()]
    return {path: path.stat().st_mtime_ns for path in files if "by-hand" not in path.parts}
