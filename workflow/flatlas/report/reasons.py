"""Why a job of a dry run would run, in a few words."""

import ast
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flatlas.errors import first_few
from flatlas.plan.fingerprint import changed_modules
from flatlas.plan.trees import by_key

if TYPE_CHECKING:
    from snakemake.dag import DAG
    from snakemake.jobs import Job, Reason

# The table's words for parameters of rules that are neither settings nor code.
PARAMETERS = {
    "judged": "whether claims are judged",
    "originals": "images in its folder",
    "written": "results that it lists",
}
FINGERPRINT = re.compile("'([0-9a-f]{12})'")


def why_it_runs(job: "Job", dag: "DAG") -> str:
    """A job's entry in the last column of the table."""
    reason = dag.reason(job)
    missing = [Path(file).name for file in job.output if not os.path.exists(file)]
    if reason.forced:
        return "was interrupted" if _interrupted(job, dag) else "forced"
    if not job.output:
        return "always runs"
    if len(missing) == len(job.output):
        return "not made yet"
    return "; ".join(_reasons(job, reason, missing)) or "reads new results"


def _interrupted(job: "Job", dag: "DAG") -> bool:
    """Whether an output is marked as incomplete; Snakemake forces such jobs and gives no reason."""
    # The public function is asynchronous, and this runs in its event loop.
    marks: Any = dag.workflow.persistence
    keys = [marks._get_key(file) for file in job.output if os.path.exists(file)]
    return bool(marks._filter_incomplete_keys(keys))


def _reasons(job: "Job", reason: "Reason", missing: list[str]) -> Iterator[str]:
    """Why a job runs, apart from new results of the jobs before it."""
    if missing:
        yield f"missing: {first_few(missing)}"
    if reason.incomplete_output:
        yield "was interrupted"
    if reason.params_changed:
        yield from _changed(job, reason.params_changed.only_old, reason.params_changed.only_new)
    newer = reason.updated_input - reason.updated_input_run
    if newer:
        yield f"newer: {first_few(sorted({Path(file).name for file in newer}))}"
    if reason.input_changed and not reason.params_changed:
        yield "reads other files"
    if reason.software_stack_changed:
        yield "changed environment"


def _changed(job: "Job", before: set[str], now: set[str]) -> Iterator[str]:
    """Which settings, modules and other parameters differ; Snakemake compares their text."""
    for name, value in job.params.items():
        if repr(value) not in now:
            continue
        if name == "code":
            codes = [found[1] for text in before if (found := FINGERPRINT.fullmatch(text))]
            modules = [module for code in codes for module in changed_modules(code, value)]
            yield f"changed code{_named(modules)}"
        elif name == "spec":
            keys = _changed_keys(before, value)
            yield "other runs" if "points" in keys else f"changed settings{_named(keys)}"
        else:
            yield f"changed {PARAMETERS.get(name, name)}"


def _changed_keys(before: set[str], spec: Mapping[str, Any]) -> list[str]:
    """The dotted keys in which an earlier spec, given as text, differs; none if that is unknown."""
    text = next((text for text in sorted(before) if text.startswith("{")), "{}")
    try:
        old, new = by_key(ast.literal_eval(text)), by_key(spec)
    except ValueError:
        # inf and nan are no literals.
        return []
    return [key for key in {**old, **new} if old.get(key) != new.get(key)]


def _named(names: list[str]) -> str:
    return f": {first_few(names)}" if names else ""
