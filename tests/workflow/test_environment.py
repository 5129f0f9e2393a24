"""The environment of jobs, and the reasons to use private parts of Snakemake."""

import json
import re

from checkout import Checkout

NOTE = "import json, os; open('environment.json', 'w').write(json.dumps(dict(os.environ)))"
SAYING = """
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

# Settings of the output that a dry run compares for equality.
QUIET = """
from snakemake.settings.enums import Quietness

workflow.output_settings.quiet = {Quietness.RULES, Quietness.PROGRESS}

rule all:
    output: "one"
    message: "a line for the job"
    shell: "touch one"
"""


def test_the_environment_of_a_job_and_the_private_parts_of_snakemake(tiny):
    tiny.edit("workflow/scripts/source.py", r"\nwith Job", f"\n{NOTE}\nwith Job")
    tiny.edit("Snakefile", r"\Z", SAYING)
    said = tiny.snakemake("--until", "source", PYTHONPATH="modules")
    environment = json.loads((tiny / "environment.json").read_text())
    assert environment["PYTHONPATH"] == f"{tiny / 'workflow'}:modules"
    # glibc takes no more than this for a threshold, and ignores what is larger.
    assert int(environment["MALLOC_MMAP_THRESHOLD_"]) == 32 << 20
    assert int(environment["MALLOC_TRIM_THRESHOLD_"]) > 8 << 30
    assert "jobs a second are limited by None" in said
    # If this fails, read workflow.dag_settings.targets in the Snakefile, not sys.argv.
    assert "the settings with the targets are None" in said


def test_snakemake_still_looks_again_and_again_where_jobs_are_limited(tmp_path, memory):
    """If this fails, remove `job_rate_limiter = None` from the Snakefile."""
    (tmp_path / "Snakefile").write_text(LIMITED)
    said = Checkout(tmp_path, memory).snakemake()
    looks = re.search(r"(\d+) looks were scheduled with <.*JobRateLimiter", said)
    assert looks is not None and int(looks[1]) > 0, said


def test_a_dry_run_without_rules_and_progress_ends_after_the_number_of_jobs(tmp_path, memory):
    """If this fails, change `end_with_table` in report/dry_run.py."""
    (tmp_path / "Snakefile").write_text(QUIET)
    said = Checkout(tmp_path, memory).snakemake("-n")
    assert re.search(r"^total +1$", said, re.MULTILINE)
    assert "a line for the job" not in said


def test_data_come_first_and_of_trainings_the_slowest(finished):
    """The one with the largest rate and the smallest minibatch is the last."""
    log = min((finished / ".snakemake/log").iterdir()).read_text()
    subset, *slower, last = re.findall(r"^Job \d+: ((?:Subset|Training) \S+)", log, re.MULTILINE)
    assert subset.startswith("Subset")
    assert len(slower) == 2
    assert "-sgd0.1-b20-" in last
