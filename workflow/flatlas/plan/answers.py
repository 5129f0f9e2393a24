"""A plan as the dictionary in which rules look things up, from a configuration without mistakes."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from flatlas.plan.code import (
    figure_modules,
    functions_modules,
    kernel_modules,
    measure_modules,
    source_modules,
    training_modules,
)
from flatlas.plan.data_specs import (
    AttackSpec,
    FunctionsSpec,
    NoiseSpec,
    SamplesSpec,
    SourceSpec,
    subset_of,
)
from flatlas.plan.documents import read_yaml
from flatlas.plan.drawings import check_drawings
from flatlas.plan.ids import source_id
from flatlas.plan.lookup import FigureEntry, JobEntry, Lookup, StudyEntry
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.named_modules import check_modules
from flatlas.plan.plan import Plan
from flatlas.plan.resolve import resolve
from flatlas.plan.spec import Spec
from flatlas.plan.stages import stages
from flatlas.plan.work import jobs_of_targets, planned_jobs


def answers(config: Mapping[str, Any], root: Path, files: Iterable[str]) -> Lookup:
    """What the rules ask, of a configuration and the files that Snakemake has read into it."""
    # Snakemake takes the last of two equal keys without a word.
    for file in files:
        read_yaml(Path(file))
    plan = resolve(config, root)
    check_drawings(plan)
    check_modules(plan)
    return answers_of(plan)


def answers_of(plan: Plan) -> Lookup:
    """What the rules ask of a plan."""
    settings = plan.settings
    return {
        "preset": plan.preset,
        "judged": plan.judged,
        "complete": settings.complete,
        "warm_start": settings.warm_start,
        "scale": plan.scale.title,
        "data_root": settings.data_root,
        "compared": [settings.before, settings.after],
        "measures": {name: list(measure.tables) for name, measure in MEASURES.items()},
        "sources": {name: _source(source) for name, source in plan.sources.items()},
        "samples": {name: _samples(plan, samples) for name, samples in plan.samples.items()},
        "runs": {name: _run(plan, name) for name in plan.runs},
        "kernels": {name: _kernel(plan, name) for name in plan.kernels},
        "measurements": {name: _measurement(plan, name) for name in plan.measurements},
        "figures": {target: _figure(plan, target) for target in plan.figures},
        "studies": {study: _study(plan, study) for study in plan.studies},
        "pages": {
            page: {kind: plan.page_file(page, kind) for kind in kinds}
            for page, kinds in PAGES.items()
        },
        "stages": stages(plan),
        "jobs": {
            name: {**asdict(job.work), "provenance": job.provenance}
            for name, job in planned_jobs(plan).items()
        },
        "needed": jobs_of_targets(plan),
        "own_files": sorted(plan.own_files),
    }


PAGES = {
    "dag": ("pdf", "png"),
    "scorecard": ("csv", "html"),
    "report": ("html",),
    "costs": ("csv", "txt"),
    "costs_by_measure": ("csv",),
}


def _source(source: SourceSpec) -> JobEntry:
    return _entry(source, {}, source_modules(source))


def _samples(plan: Plan, samples: SamplesSpec) -> JobEntry:
    files = {}
    if not isinstance(samples, NoiseSpec):
        files["images"] = plan.images_file(samples)
    if isinstance(samples, NoiseSpec | AttackSpec):
        files["subset"] = plan.subset_file(samples)
    modules = functions_modules(samples) if isinstance(samples, FunctionsSpec) else []
    return _entry(samples, files, modules)


def _run(plan: Plan, name: str) -> JobEntry:
    run = plan.runs[name]
    return _entry(
        run,
        plan.training_files(name),
        training_modules(run),
        ranks=plan.ranks(name),
        gpus=plan.training_gpus(name),
        mem_mb=plan.training_memory(name),
        runtime=plan.training_minutes(name),
    )


def _kernel(plan: Plan, name: str) -> JobEntry:
    kernel = plan.kernels[name]
    return _entry(
        kernel,
        plan.kernel_files(name),
        kernel_modules(kernel),
        gpus=plan.kernel_gpus(name),
        mem_mb=plan.kernel_memory(name),
        runtime=plan.kernel_minutes(name),
    )


def _measurement(plan: Plan, name: str) -> JobEntry:
    measured = plan.measurements[name]
    return _entry(
        measured,
        plan.measure_files(name),
        measure_modules(measured),
        gpus=plan.measure_gpus(name),
        mem_mb=plan.memory(name),
        runtime=plan.measuring_minutes(name),
    )


def _entry(
    spec: Spec,
    files: dict[str, str],
    modules: list[str],
    ranks: int = 1,
    gpus: int = 0,
    mem_mb: int = 0,
    runtime: int = 0,
) -> JobEntry:
    """An entry; memory and minutes of 0 mean that the rule itself has them."""
    return {
        "input": files,
        "spec": spec.resolved(),
        "modules": modules,
        "ranks": ranks,
        "gpus": gpus,
        "mem_mb": mem_mb,
        "runtime": runtime,
    }


def _figure(plan: Plan, target: str) -> FigureEntry:
    figure = plan.figures[target]
    return {
        "study": figure.study,
        "name": figure.name,
        "title": figure.title,
        "input": plan.figure_files(target),
        "results": plan.figure_results(target),
        "png": plan.figure_file(target, "png"),
        "spec": plan.figure_spec(target),
        "modules": figure_modules(figure.study, figure.module),
        "changes": _changes(plan, target),
        "data": _data(plan, target),
    }


def _study(plan: Plan, study: str) -> StudyEntry:
    return {
        "title": plan.studies[study].title,
        "paper": plan.studies[study].paper,
        "figures": plan.targets(study),
        "files": plan.study_figures(study),
        "results": plan.study_results(study),
        "claims": plan.study_claims(study),
        "scorecard": {kind: plan.scorecard_file(study, kind) for kind in ("csv", "html")},
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
