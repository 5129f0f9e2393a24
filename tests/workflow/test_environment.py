"""What the Snakefile gives every job to know, and how it has Snakemake choose jobs."""

import json
from types import SimpleNamespace

import pytest
from checkout import Checkout, copied, with_tiny_study

NOTE = "import json, os; open('told.json', 'w').write(json.dumps(dict(os.environ)))"
TOLD = """

onsuccess:
    print("jobs a second are limited by", workflow.scheduler.job_rate_limiter)
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


def test_nothing_limits_how_many_jobs_begin_a_second_on_one_machine(one_job):
    """What would limit them never rests, and the less so the more jobs there were."""
    assert "jobs a second are limited by None" in one_job.said
