"""Each script can be run again by hand, from the JSON beside its log: the way to debug a job."""

import subprocess
import sys

import pytest

from flatlas.plan.fingerprint import closure, fingerprint

# Run a script as its own main program, then tell which modules of the library it has loaded.
TELLING = """
import runpy, sys
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
print(*(name for name in sys.modules if name.split(".")[0] == "flatlas"))
"""
# The script of each rule, and what its result is; provenance tells the time, so it differs.
RESULTS = {
    "source": ("source", "data/sources/*/images.safetensors"),
    "subset": ("subset", "data/subsets/*/samples.parquet"),
    "train": ("train", "runs/*/*.safetensors"),
    "measure_duality": ("measure", "measures/duality/*/*.parquet"),
    "figures": ("figure", "tiny/duality/*"),
}


@pytest.mark.parametrize("rule", RESULTS)
def test_by_hand_a_job_gives_the_same_bytes_and_loads_no_code_unwatched(demo, rule):
    script, results = RESULTS[rule]
    job = sorted((demo / f"results/logs/{rule}").glob("*.json"))[-1]
    before = demo.contents(results)
    for path in (demo / "results").glob(results):
        path.rename(path.with_suffix(".before"))
    loaded = by_hand(demo, f"workflow/scripts/{script}.py", job)
    made = demo.contents(results)
    assert made
    assert {name: before[name] for name in made} == made
