"""What a dry run prints: what would run by study and stage, why, and how long it may take."""

from collections.abc import Iterable, Iterator, Mapping
from logging import LogRecord
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flatlas.errors import FlatlasError
from flatlas.plan.deletion import would_delete
from flatlas.plan.lookup import Lookup
from flatlas.plan.paths import SAMPLING
from flatlas.published_sets import SETS
from flatlas.report.estimates import JobCost, estimate, known_costs, measured_if_intact
from flatlas.report.readable import aligned, duration
from flatlas.report.reasons import why_it_runs

if TYPE_CHECKING:
    from snakemake.dag import DAG
    from snakemake.jobs import Job
    from snakemake.workflow import Workflow

STAGES = ("data", "train", "record", "kernel", "measure", "figures", "pages")


# The seconds of each job, by stage, study and reason; NaN if they are unknown.
Rows = dict[tuple[str, str, str], list[float]]


def end_with_table(workflow: "Workflow", plan: Lookup) -> None:
    """Have a dry run end with a table, instead of several lines for each job.

    With `-p` it prints each job, as Snakemake does, after the table.
    """
    # Imported here because the library works without Snakemake.
    from snakemake.exceptions import WorkflowError
    from snakemake.logging import logger
    from snakemake.settings.enums import Quietness
    from snakemake_interface_logger_plugins.common import LogEvent

    def with_table(record: LogRecord) -> bool:
        """Append the table to Snakemake's own, which counts jobs."""
        if getattr(record, "event", None) is LogEvent.RUN_INFO:
            logger.removeFilter(with_table)
            resources = workflow.resource_settings
            slots = resources.nodes or resources.cores or 1
            try:
                record.msg = f"{record.msg}\n{would_run(workflow.dag, plan, slots)}"
            except FlatlasError as error:
                raise WorkflowError(str(error)) from None
        return True

    logger.addFilter(with_table)
    if not workflow.output_settings.printshellcmds:
        # With these, a dry run ends before it lists each job. They don't silence the tables:
        # Snakemake has already read its logging settings.
        workflow.output_settings.quiet = {Quietness.RULES, Quietness.PROGRESS}


def would_run(dag: "DAG", plan: Lookup, slots: int) -> str:
    """What cleaning would delete; then the table and the time of all other jobs, as text.

    `slots` jobs run at once.
    """
    running = {_name(job): job for job in dag.needrun_jobs() if not job.is_norun}
    cleaning = [name for name in running if name.startswith("clean_") and not running[name].output]
    deletions = [(name, running.pop(name).params) for name in cleaning]
    said = [f"{name}: {_would_delete(one)}\n{one.note}" for name, one in deletions]
    if running:
        seconds = _seconds(running, plan)
        said += [
            _table(_rows(running, seconds, dag, plan), plan),
            _time(running, seconds, dag, plan, slots),
            *_downloads(running, plan),
        ]
    said += [f"{place} is in no figure, so it is not computed." for place in plan.unused]
    return "\n\n".join([*said, "Nothing was run. To list each job, add -p."])


def _downloads(names: Iterable[str], plan: Lookup) -> Iterator[str]:
    """A line for each published data set of which the data root lacks files."""
    root = Path(plan.data_root).expanduser()
    kinds = [plan.jobs[one].spec.get("kind") for one in names if one in plan.jobs]
    for kind in dict.fromkeys(kind for kind in kinds if kind in SETS):
        published = SETS[kind]
        if len(published.found(root)) < len(published.sizes):
            yield f"{kind} is missing: a job would download it to {root / published.folder}."


def _would_delete(params: Any) -> str:
    # Imported here because only these jobs need the models of the specs.
    from flatlas.plan.cleaning import deletable

    return would_delete(deletable(params.config, Path(params.root), params.study)[0])


def _rows(
    jobs: Mapping[str, "Job"], seconds: Mapping[str, float], dag: "DAG", plan: Lookup
) -> Rows:
    studies = _studies(dag, plan)
    rows: Rows = {}
    for name, job in jobs.items():
        # A scorecard is not a job of the plan.
        users = studies.get(name, {name.removesuffix("_scorecard")} & {*plan.studies})
        study = "several" if len(users) > 1 else "".join(users)
        rows.setdefault((_stage(job, plan), study, why_it_runs(job, dag)), []).append(seconds[name])
    return rows


def _table(rows: Rows, plan: Lookup) -> str:
    studies = ["several", *plan.studies, ""]
    order = sorted(rows, key=lambda key: (STAGES.index(key[0]), studies.index(key[1]), key[2]))
    cells, reasons = [("stage    study", "jobs", "time")], ["why"]
    for stage, study, why in order:
        seconds = rows[stage, study, why]
        known = [one for one in seconds if not isnan(one)]
        unknown = f" + {len(seconds) - len(known)} unknown" if len(known) < len(seconds) else ""
        cells.append((f"{stage:<8} {study}", str(len(seconds)), duration(sum(known)) + unknown))
        reasons.append(why)
    lines = zip(aligned(cells).splitlines(), reasons, strict=True)
    return "\n".join(f"{line}  {why}" for line, why in lines)


def _name(job: "Job") -> str:
    """A job's name in the plan; for a page, the name of its rule."""
    return "".join(job.wildcards) or str(job.rule.name)


def _stage(job: "Job", plan: Lookup) -> str:
    rule = str(job.rule.name)
    if rule in plan.figures:
        return "figures"
    if rule == "source" or rule in SAMPLING:
        return "data"
    kind = rule.split("_")[0]
    return kind if kind in STAGES and job.wildcards else "pages"


def _studies(dag: "DAG", plan: Lookup) -> dict[str, set[str]]:
    """For each job of the plan, the studies that have figures in the DAG which need it."""
    studies: dict[str, set[str]] = {}
    for target in {str(job.rule.name) for job in dag.jobs} & {*plan.figures}:
        for name in plan.needed[target]:
            studies.setdefault(name, set()).add(plan.figures[target].study)
    return studies


def _seconds(names: Iterable[str], plan: Lookup) -> dict[str, float]:
    """The seconds that each job took, or an estimate; 0 for pages, which take a moment."""
    stages = {plan.jobs[name].work["stage"] for name in names if name in plan.jobs}
    jobs = {
        name: JobCost(**job.work | measured_if_intact(job.outputs["provenance"]))
        for name, job in plan.jobs.items()
        if job.work["stage"] in stages
    }
    known: dict[str, list[JobCost]] = {}
    for one in known_costs((job for job in jobs.values() if job.ran), plan.preset):
        known.setdefault(one.stage, []).append(one)
    return {
        name: (job.seconds if job.ran else estimate(job, known.get(job.stage, ())))
        if (job := jobs.get(name))
        else 0.0
        for name in names
    }


def _time(
    jobs: Mapping[str, "Job"], seconds: Mapping[str, float], dag: "DAG", plan: Lookup, slots: int
) -> str:
    """The time of all jobs one after the other; with several slots, also the shortest possible."""
    known = {name: one for name, one in seconds.items() if not isnan(one)}
    total, ends = sum(known.values()), dict["Job", float]()
    # The plan lists each job after those it needs.
    for name in filter(known.__contains__, plan.jobs):
        begin = max((ends.get(one, 0.0) for one in dag.dependencies[jobs[name]]), default=0.0)
        ends[jobs[name]] = begin + known[name]
    if not known:
        return "How long that takes is unknown."
    if not total:
        return "That takes a moment."
    shortest = max(total / slots, *ends.values(), 0.0)
    several = slots > 1 and len(jobs) > 1
    at_once = f", at least {duration(shortest)} with {slots} at once" if several else ""
    unknown = len(jobs) - len(known)
    without = f", without {unknown} of unknown length" if unknown else ""
    return f"About {duration(total)} one after the other{at_once}{without}."
