"""The rules' lookup, made from a configuration that has no mistakes."""

from collections.abc import Iterable, Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any

from flatlas.plan import lookup, paths
from flatlas.plan.documents import read_yaml
from flatlas.plan.drawings import check_drawings
from flatlas.plan.figure_jobs import changes_of, data_of
from flatlas.plan.graph import needed_by_targets, picture
from flatlas.plan.jobs import OUTPUTS, jobs_of
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.named_modules import check_modules
from flatlas.plan.networks import TARGET
from flatlas.plan.plan import Plan
from flatlas.plan.resolve import resolve

PAGES = {
    "dag": ("pdf", "png", "json"),
    "scorecard": ("csv", "html", "json"),
    "report": ("html", "json"),
    "explorer": ("html", "json"),
    "costs": ("csv", "txt"),
    "costs_by_measure": ("csv",),
    "costs_by_job": ("csv",),
}

Pages = dict[str, dict[str, str]]


def answers(config: Mapping[str, Any], root: Path, files: Iterable[str]) -> lookup.Lookup:
    """The lookup of a configuration; `files` are those that Snakemake has read into it."""
    # Snakemake silently takes the last of two equal keys.
    for file in files:
        read_yaml(Path(file))
    plan = resolve(config, root)
    check_drawings(plan)
    check_modules(plan)
    return answers_of(plan)


def answers_of(plan: Plan) -> lookup.Lookup:
    """The lookup of a plan."""
    settings, jobs = plan.settings, jobs_of(plan)
    pages = _pages(plan)
    return lookup.Lookup(
        preset=settings.preset,
        judged=plan.scale.judged,
        complete=settings.complete,
        warm_start=settings.warm_start,
        scale=plan.scale.title,
        data_root=settings.data_root,
        compared=[settings.before, settings.after],
        measures={name: OUTPUTS[f"measure_{name}"] for name in MEASURES},
        meanings={
            name: cleandoc(one.__doc__ or "").partition("\n")[0] for name, one in MEASURES.items()
        },
        jobs=jobs,
        figures={
            target: lookup.Figure(
                study=figure.study,
                name=figure.name,
                title=figure.title,
                caption=f"{figure.drawing.study}/{figure.drawing.figure}.rst",
                changes=changes_of(plan, figure),
                data=data_of(plan, figure),
            )
            for target, figure in plan.figures.items()
        },
        studies={study: _study(plan, study, jobs, pages) for study in plan.studies},
        pages=pages,
        picture=picture(plan, jobs),
        needed=needed_by_targets(plan, jobs),
        own_files={file: lookup.own_state(file) for file in sorted(plan.own_files)},
        unused=plan.unused,
    )


def _pages(plan: Plan) -> Pages:
    """The files of each page by kind. The page of the user's networks is beside their picture."""
    preset = plan.settings.preset
    pages = {
        page: {kind: paths.PAGE.format(preset=preset, page=page, extension=kind) for kind in kinds}
        for page, kinds in PAGES.items()
    }
    own = {paths.MY_MODEL: ("html", "csv", "json"), paths.ATLAS_MINE: ("html", "json")}
    for study, kinds in own.items():
        if study in plan.studies:
            named = {kind: kind for kind in kinds}
            pages[study] = paths.figure_files(preset, study, paths.MY_PAGE, named)
    return pages


def _study(plan: Plan, study: str, jobs: Mapping[str, lookup.Job], pages: Pages) -> lookup.Study:
    """A study. Its target makes every file of its figures, so a deleted file is made again."""
    targets = plan.targets(study)
    kinds = {kind: kind for kind in PAGES["scorecard"]}
    scorecard = paths.figure_files(plan.settings.preset, study, "scorecard", kinds)
    results = [file for target in targets for file in jobs[target].outputs.values()]
    if study in paths.OF_SETTING:
        results += pages[study].values()
    if study == paths.ATLAS and TARGET in jobs:
        results += jobs[TARGET].outputs.values()
    if any("claims" in jobs[target].outputs for target in targets):
        results += scorecard.values()
    return lookup.Study(
        title=plan.studies[study].title,
        paper=plan.studies[study].paper,
        figures=targets,
        results=results,
        scorecard=scorecard,
    )
