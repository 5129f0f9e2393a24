"""The environment of jobs, and the reasons to use private parts of Snakemake."""

import json
import re
from types import SimpleNamespace

import pytest
from checkout import Checkout, copied, with_tiny_study

NOTE = "import json, os; open('told.json', 'w').write(json.dumps(dict(os.environ)))"
TOLD = """
print("while the Snakefile is read, the settings with the targets are", workflow.dag_settings)

onsuccess:
    print("jobs a second are limited by", workflow.scheduler.job_rate_limiter)
"""
# One job with Snakemake's own limit, which counts how often another look is scheduled.
LIMITED = """
looks = []

onstart:
    schedule = workflow.scheduler._schedule_reevalutation
    counting = lambda after: looks.append(after) or schedule(after)
    workflow.scheduler._schedule_reevalutation = counting

onsuccess:
    print(f"{len(looks)} looks were scheduled with {workflow.scheduler.job_rate_limiter}")

rule all:
    output: "one"
    shell: "touch one"
"""


@pytest.fixture(scope="module")
def one_job(tmp_path_factory, memory):
    """A run of one job: its checkout, its environment and what Snakemake said of itself."""
    checkout = Checkout(with_tiny_study(copied(tmp_path_factory.mktemp("job") / "tiny")), memory)
    checkout.edit("workflow/scripts/source.py", r"\nwith Job", f"\n{NOTE}\nwith Job")
    with (checkout / "Snakefile").open("a") as snakefile:
        snakefile.write(TOLD)
    said = checkout.snakemake("--until", "source")
    told = json.loads((checkout / "told.json").read_text())
    return SimpleNamespace(checkout=checkout, environment=told, said=said)


def test_a_job_has_the_library_and_keeps_its_memory(one_job):
    told = one_job.environment
    assert told["PYTHONPATH"] == str(one_job.checkout / "workflow")
    # glibc takes no more than this for a threshold, and ignores what is larger.
    assert int(told["MALLOC_MMAP_THRESHOLD_"]) == 32 << 20
    assert int(told["MALLOC_TRIM_THRESHOLD_"]) > 8 << 30


def test_nothing_limits_how_many_jobs_start_per_second_on_one_machine(one_job):
    assert "jobs a second are limited by None" in one_job.said


def test_snakemake_still_looks_again_and_again_where_jobs_are_limited(tmp_path, memory):
    """When this fails, remove `job_rate_limiter = None` from the Snakefile."""
    (tmp_path / "Snakefile").write_text(LIMITED)
    said = Checkout(tmp_path, memory).snakemake()
    looks = re.search(r"(\d+) looks were scheduled with <.*JobRateLimiter", said)
    assert looks is not None and int(looks[1]) > 0, said


def test_snakemake_still_hides_the_targets_from_the_snakefile(one_job):
    """When this fails, read workflow.dag_settings.targets in the Snakefile, not sys.argv."""
    assert "the settings with the targets are None" in one_job.said
