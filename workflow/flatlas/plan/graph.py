"""The graph of a plan's jobs: which job needs which, and the picture of it."""

from collections.abc import Mapping
from typing import Any

from flatlas.plan.lookup import Job
from flatlas.plan.paths import SAMPLING
from flatlas.plan.plan import Plan

# Columns of the picture left of the figures, in order, and how the names of their rules begin.
COLUMNS = {
    "data sources": ("source",),
    "subsets, attack sets": tuple(SAMPLING),
    "training": ("train", "record"),
    "kernels": ("kernel",),
    "measures": ("measure_",),
}


def needed(jobs: Mapping[str, Job]) -> dict[str, set[str]]:
    """For each job, all jobs that must be done before it."""
    made_by = {file: name for name, job in jobs.items() for file in job.outputs.values()}
    before: dict[str, set[str]] = {}
    for name, job in jobs.items():
        read = {made_by[file] for file in job.files_read() if file in made_by}
        before[name] = read.union(*(before[one] for one in read))
    return before


def needed_by_targets(plan: Plan, jobs: Mapping[str, Job]) -> dict[str, list[str]]:
    """For each figure and each study, all its jobs, including those that draw figures."""
    before = needed(jobs)
    figures = {target: before[target] | {target} for target in plan.figures}
    studies = {
        study: set[str]().union(*(figures[target] for target in plan.targets(study)))
        for study in plan.studies
    }
    return {target: sorted(names) for target, names in {**figures, **studies}.items()}


def picture(plan: Plan, jobs: Mapping[str, Job]) -> dict[str, Any]:
    """The jobs by column, the pairs (job, job that reads its files), and the study of each job.

    A pair is left out if its two jobs are also connected through a third. A job that several
    studies need has no study. The atlas' measure table is not in the picture.
    """
    nodes, before = _columns(jobs, plan), needed(jobs)
    shown = {name for names in nodes.values() for name in names}
    edges = []
    for name, all_before in before.items():
        if name not in shown:
            continue
        through = set[str]().union(*(before[one] for one in all_before))
        edges += [(one, name) for one in all_before - through]
    users: dict[str, set[str]] = {}
    for target, figure in plan.figures.items():
        for name in (target, *before[target]):
            users.setdefault(name, set()).add(figure.study)
    # Sorted, because a parameter of a job must be the same each time.
    own = {name: min(users[name]) for name in sorted(users) if len(users[name]) == 1}
    return {"nodes": nodes, "edges": sorted(edges), "studies": own}


def _columns(jobs: Mapping[str, Job], plan: Plan) -> dict[str, list[str]]:
    others = [name for name in jobs if name not in plan.figures]
    columns = {
        title: [name for name in others if jobs[name].rule.startswith(rules)]
        for title, rules in COLUMNS.items()
    }
    return {**columns, "figures": list(plan.figures)}
