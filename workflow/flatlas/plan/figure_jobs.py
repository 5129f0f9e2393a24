"""The job of a figure: the tables it reads, the files it writes, and its parameters."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import yaml

from flatlas.errors import first_few
from flatlas.plan import paths
from flatlas.plan.code import figure_modules
from flatlas.plan.data_specs import Pictures, subset_of
from flatlas.plan.described import described
from flatlas.plan.families.own import Own
from flatlas.plan.ids import source_slug
from flatlas.plan.lookup import Job
from flatlas.plan.plan import Entry, FigurePlan, Plan
from flatlas.plan.points import points_of
from flatlas.plan.training_specs import RunSpec, given_to


def figure_job(plan: Plan, target: str, jobs: Mapping[str, Job]) -> Job:
    """The job that draws a figure and judges its claims. `jobs` are those of its runs."""
    figure = plan.figures[target]
    tables = tables_of(figure.entries, jobs, figure.costs)
    inputs = inputs_of(figure.entries, tables, jobs)
    # The figure places networks in the atlas by their settings.
    placed = _placed(plan, figure) if figure.study == paths.ATLAS_MINE else {}
    return Job(
        rule=target,
        script="atlas_mine" if placed else "figure",
        inputs=inputs,
        outputs=_outputs(figure, plan.settings.preset),
        spec={
            **asdict(figure.drawing),
            "points": points_of(figure.entries, tables, plan.runs),
            "inputs": digest_of(inputs),
            "shows": shown_by(plan, figure),
            **placed,
        },
        modules=figure_modules(figure.drawing.study, figure.drawing.module),
        mem_mb=2000,
        runtime=10,
        work={"stage": "figure", "net": "", "units": 1},
    )


def _placed(plan: Plan, figure: FigurePlan) -> dict[str, Any]:
    """The settings of a user's networks, and the data set that they name in `same_as`."""
    mine = plan.settings.my_model
    source = plan.settings.sources[mine.same_as] if mine and mine.same_as else None
    same_as = source_slug(source) if source else None
    return {**described(plan, figure.entries), "same_as": same_as}


def tables_of(
    entries: Sequence[Entry], jobs: Mapping[str, Job], costs: bool = False
) -> dict[str, tuple[str, str]]:
    """For each table that a figure reads: its measure's name, and the table's name in the job.

    With `costs` it also reads the provenance of each measurement.
    """
    measured = {name: one for each in entries for name, one in each.measurements.items()}
    tables = {}
    for name, measurement in measured.items():
        for output in jobs[measurement].outputs:
            if output != "provenance":
                tables[f"{name}_{output}"] = name, output
        if costs:
            tables[f"{name}_cost"] = name, "provenance"
    return tables


def inputs_of(
    entries: Sequence[Entry], tables: Mapping[str, tuple[str, str]], jobs: Mapping[str, Job]
) -> dict[str, list[str]]:
    """The files of each table, in the order of the entries that have the measure."""
    if not entries:
        return {}
    runs = [jobs[entry.run].outputs for entry in entries]
    inputs = {name: [run[name] for run in runs] for name in ("history", "outcomes")}
    for table, (name, output) in tables.items():
        measured = [entry.measurements.get(name) for entry in entries]
        inputs[table] = [jobs[one].outputs[output] for one in measured if one is not None]
    return inputs


def digest_of(inputs: Mapping[str, list[str]]) -> str:
    """A digest of the files that a job reads."""
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:12]


def _outputs(figure: FigurePlan, preset: str) -> dict[str, str]:
    kinds = {"pdf": "pdf", "csv": "csv", "provenance": "json"}
    if figure.claims:
        kinds["claims"] = "claims.csv"
    return paths.figure_files(preset, figure.study, figure.name, {**kinds, "png": "png"})


def data_of(plan: Plan, figure: FigurePlan) -> list[str]:
    """The data sets behind a figure."""
    runs = [plan.runs[entry.run] for entry in figure.entries]
    return list(dict.fromkeys(source_slug(subset_of(run.samples).source) for run in runs))


def shown_by(plan: Plan, figure: FigurePlan) -> str:
    """A figure's small print: data and preset; for a user's figure also nets and optimizers."""
    runs = [plan.runs[entry.run] for entry in figure.entries]
    if not runs:
        return ""
    data = f"Data: {_each(map(_data, runs))}; preset {plan.settings.preset}."
    if not figure.own:
        return data
    networks, optimizers = _each(map(_network, runs)), _each(map(_optimizer, runs))
    return f"{data} Network: {networks}. Optimizer: {optimizers}."


def _data(run: RunSpec) -> str:
    source = subset_of(run.samples).source
    normalized = isinstance(source, Pictures) and source.normalize
    return source_slug(source) + (", normalized" if normalized else "")


def _network(run: RunSpec) -> str:
    weights = given_to(run.net)
    name = run.net.module if isinstance(run.net, Own) else run.net.slug
    return f"{name} from {weights}" if weights else name


def _optimizer(run: RunSpec) -> str:
    if not run.stop.epochs:
        return "none, the weights are measured as they are"
    return f"{run.optimizer.name}, lr {run.optimizer.lr:g}, batch {run.batch}"


def _each(names: Iterable[str]) -> str:
    """Each name once; if there are many, the first few."""
    return first_few([*dict.fromkeys(names)], "; ")


def changes_of(plan: Plan, figure: FigurePlan) -> list[tuple[str, str, str]]:
    """The settings behind a figure that differ from its study's own file, written as YAML."""
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
