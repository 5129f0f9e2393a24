"""Each script can be run again by hand, from the JSON beside its log: the way to debug a job.

What it makes then lies under results/by-hand/, and nothing of the pipeline's own is touched.
"""

import json

import pytest
from pydantic import TypeAdapter

from flatlas.plan import code
from flatlas.plan.data_specs import SourceSpec
from flatlas.plan.fingerprint import closure
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.training_specs import RunSpec

# For each rule: its script, the results that are the same bytes every time (a provenance and
# times.csv are not), and the modules that its spec picks by name.
RULES = {
    "source": (
        "source",
        "data/sources/*/images.safetensors",
        lambda spec: code.source_modules(TypeAdapter(SourceSpec).validate_python(spec)),
    ),
    "subset": ("subset", "data/subsets/*/samples.parquet", lambda spec: []),
    "train": ("train", "runs/*/[who]*", lambda spec: code.training_modules(RunSpec(**spec))),
    "measure_duality": (
        "measure",
        "measures/duality/*/*.parquet",
        lambda spec: code.measure_modules(MeasureSpec(**spec)),
    ),
    "figures": (
        "figure",
        "tiny/duality/*.[!j]*",
        lambda spec: code.figure_modules(spec["study"], spec["module"]),
    ),
    "scorecard": ("scorecard", "tiny/duality/scorecard.[ch]*", lambda spec: []),
}


@pytest.mark.parametrize("rule", RULES)
def test_by_hand_a_job_gives_the_same_bytes_by_the_code_of_its_fingerprint(demo, rule):
    script, results, modules_of = RULES[rule]
    job, before = job_of(demo, rule), stamps(demo)
    assert_repeats(demo, script, job, results, modules_of)
    assert stamps(demo) == before


def assert_repeats(checkout, script, job, results, modules_of):
    """The same bytes, by code that its fingerprint covers; returns the modules that it loaded.

    Code that is imported by name at run time counts too, which no walk through imports can see.
    """
    loaded = checkout.by_hand(script, job)
    made = checkout.contents(f"by-hand/{results}")
    assert made
    pipeline = checkout.contents(results)
    assert {name: pipeline[name.removeprefix("by-hand/")] for name in made} == made

    params = json.loads(job.read_text())["params"]
    modules = modules_of(params.get("spec"))
    assert code.stage_code(script, *modules) == params["code"]
    assert len(loaded) > 3
    assert loaded <= {str(root) for root in closure((code.SCRIPTS / f"{script}.py", *modules))}
    return loaded


def job_of(checkout, rule):
    """The JSON that one job of a rule left beside its log."""
    names = {"figures": "figures/*_s4", "scorecard": "figures/*_duality_scorecard"}
    return sorted((checkout / "results/logs").glob(f"{names.get(rule, f'{rule}/*')}.json"))[-1]


def stamps(checkout):
    """When each file under results was written, but for those made by hand."""
    files = [path for path in (checkout / "results").rglob("*") if path.is_file()]
    return {path: path.stat().st_mtime_ns for path in files if "by-hand" not in path.parts}
