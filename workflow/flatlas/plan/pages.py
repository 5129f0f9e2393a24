"""What the pages are made of that a reader opens: scorecards, the report."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict
from os.path import relpath
from pathlib import Path
from typing import Any

import yaml

from flatlas.plan.code import figure_code
from flatlas.plan.data_specs import subset_of
from flatlas.plan.drawings import CAPTIONS
from flatlas.plan.ids import source_id
from flatlas.plan.plan import Plan
from flatlas.plan.work import planned_jobs


def judged_studies(plan: Plan) -> list[str]:
    """The studies of which something is judged."""
    return [study for study in plan.studies if plan.study_claims(study)]


def all_claims(plan: Plan) -> list[str]:
    """The files with the claims of all studies."""
    return [file for study in plan.studies for file in plan.study_claims(study)]


def claims_of(plan: Plan, studies: Iterable[str], page: str) -> list[dict[str, Any]]:
    """Study by study, the figures that claim something; pictures as the page links to them."""
    return [
        {
            "name": study,
            "title": plan.studies[study].title,
            "figures": [
                _figure(plan, target)
                | {"link": relpath(plan.figure_file(target, "png"), Path(page).parent)}
                for target in plan.targets(study)
                if "claims" in plan.figure_results(target)
            ],
        }
        for study in studies
    ]


def _figure(plan: Plan, target: str) -> dict[str, Any]:
    """Its names, its files, and what it would be drawn from now."""
    figure = plan.figures[target]
    return {
        "name": figure.name,
        "title": figure.title,
        "picture": plan.figure_file(target, "png"),
        "files": plan.figure_results(target),
        "spec": plan.figure_spec(target),
        "code": figure_code(figure.study, figure.name),
    }


def scorecards(plan: Plan) -> list[str]:
    """The two scorecards that are compared; '' for one of which nothing is said."""
    trees = (plan.settings.before, plan.settings.after)
    return [str(Path(tree).expanduser() / "scorecard.csv") if tree else "" for tree in trees]


def written(files: Iterable[str]) -> str:
    """A digest that changes when any of the files is written, or comes, or goes.

    A parameter for jobs that read what happens to lie there, and so can't call it their input.
    """
    paths = map(Path, files)
    times = [path.stat().st_mtime_ns if path.is_file() else 0 for path in paths]
    return hashlib.sha256(str(times).encode()).hexdigest()[:12]


def report_studies(plan: Plan) -> list[dict[str, Any]]:
    """Study by study, each figure with the files that tell of it, and what is not the study's."""
    return [
        {
            "name": name,
            "title": study.title,
            "paper": study.paper,
            "figures": [
                _figure(plan, target)
                | {
                    "target": target,
                    "caption": caption_of(target),
                    "data": _data(plan, target),
                    "changes": _changes(plan, target),
                }
                for target in plan.targets(name)
            ],
        }
        for name, study in plan.studies.items()
    ]


def report_files(plan: Plan) -> list[str]:
    """All that has to be there before the report is whole."""
    figures = [file for study in plan.studies for file in plan.study_figures(study)]
    jobs = [job.provenance for job in planned_jobs(plan).values()]
    return list(dict.fromkeys([*figures, *jobs]))


def caption_of(target: str) -> str:
    """A figure's caption, as it is written: where it lies would tell one checkout from another."""
    return (CAPTIONS / f"{target}.rst").read_text(encoding="utf-8")


def told_jobs(plan: Plan) -> dict[str, dict[str, Any]]:
    """Every job of the plan as a script is told of it."""
    return {
        name: {**asdict(job.work), "provenance": job.provenance}
        for name, job in planned_jobs(plan).items()
    }


def _data(plan: Plan, target: str) -> list[str]:
    """The kinds of data that a figure is of."""
    runs = [plan.runs[entry.run] for entry in plan.figures[target].entries]
    sources = [source_id(subset_of(run.samples).source) for run in runs]
    return list(dict.fromkeys(source.rpartition("-")[0] for source in sources))


def _changes(plan: Plan, target: str) -> list[tuple[str, str, str]]:
    """The settings behind a figure that its study's own file has otherwise, as YAML writes them."""
    figure = plan.figures[target]
    study = plan.studies[figure.study]
    drawn = study.figures[figure.name]
    own = [study.sweeps[sweep] for sweep in drawn.sweeps if sweep in study.sweeps]
    bases = {sweep.run for sweep in own}
    bases |= {start.run for start in (study.runs[base].start for base in bases) if start}
    behind = (
        "realizations",
        *(f"runs.{base}." for base in bases),
        *(f"sweeps.{sweep}." for sweep in drawn.sweeps),
        *(f"measures.{measure}." for measure in drawn.measures),
    )
    return [
        (key, _written(before), _written(now))
        for key, (before, now) in plan.changes[figure.study].items()
        if drawn.sweeps and key.startswith(behind)
    ]


def _written(value: Any) -> str:
    if value is None:
        return ""
    return yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("...\n").strip()
