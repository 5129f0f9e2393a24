"""The job of the atlas' measure table: its networks, and the settings of each."""

from collections.abc import Mapping
from typing import Any

from flatlas.plan.data_specs import AttackSpec, NoiseSpec, images_to_train_on, subset_of
from flatlas.plan.figure_jobs import digest_of, inputs_of, tables_of
from flatlas.plan.ids import source_id
from flatlas.plan.lookup import Job
from flatlas.plan.paths import ATLAS, FIGURE, NETWORKS
from flatlas.plan.plan import Drawing, Entry, FigurePlan, Plan
from flatlas.plan.points import points_of
from flatlas.plan.tables import NETWORK_SETTINGS
from flatlas.plan.training_specs import RunSpec
from flatlas.plan.trees import dotted, leaves

TARGET = f"{ATLAS}_{NETWORKS}"
# The measure with a network's errors and losses: a network without them is not in the table.
NEEDED = "norms"


def networks_job(plan: Plan, jobs: Mapping[str, Job]) -> Job | None:
    """The job that writes the table of all networks in the atlas' figures; None if it has none."""
    shown = [figure for figure in plan.figures.values() if figure.study == ATLAS]
    entries = _entries(shown)
    if not entries:
        return None
    table = FigurePlan(
        study=ATLAS,
        name=NETWORKS,
        title="The measure table",
        drawing=Drawing(ATLAS, NETWORKS, NETWORKS),
        own=False,
        entries=entries,
        costs=False,
        claims=False,
    )
    tables = tables_of(table, jobs)
    inputs = inputs_of(table, tables, jobs)
    outputs = {"parquet": "parquet", "csv": "csv", "provenance": "json"}
    return Job(
        rule=TARGET,
        inputs=inputs,
        outputs={
            name: FIGURE.format(
                preset=plan.settings.preset, study=ATLAS, figure=NETWORKS, extension=kind
            )
            for name, kind in outputs.items()
        },
        spec={
            "study": ATLAS,
            "figure": NETWORKS,
            "points": points_of(table, tables, plan.runs),
            "settings": {entry.run: settings_of(plan.runs[entry.run]) for entry in entries},
            "types": {name: column.type.__name__ for name, column in NETWORK_SETTINGS.items()},
            "options": _options(plan, entries),
            "inputs": digest_of(inputs),
        },
        modules=[],
        mem_mb=2000,
        runtime=10,
        work={"stage": "networks", "net": "", "units": 1},
    )


def _entries(figures: list[FigurePlan]) -> tuple[Entry, ...]:
    """Each run of each sweep once, with what any of the figures measures of it."""
    found: dict[tuple[str, str], Entry] = {}
    for figure in figures:
        for entry in figure.entries:
            if NEEDED in entry.measurements:
                place = entry.sweep, entry.run
                known = found[place].measurements if place in found else {}
                both = {**known, **entry.measurements}
                found[place] = Entry(entry.sweep, entry.point, entry.run, both)
    return tuple(found.values())


def _options(plan: Plan, entries: tuple[Entry, ...]) -> dict[str, dict[str, Any]]:
    """The options of each measure, of the first run that it is taken of."""
    first: dict[str, str] = {}
    for entry in entries:
        first = {**entry.measurements, **first}
    return {
        name: plan.measurements[one].options.model_dump(
            mode="json", exclude={"at"}, exclude_none=True
        )
        for name, one in sorted(first.items())
    }


def settings_of(run: RunSpec) -> dict[str, Any]:
    """What a network's row says of its settings, by the columns of the table."""
    said = {dotted(place): value for place, value in leaves(run.resolved()).items()}
    known = said | _of_data(run) | _of_net(run)
    return {name: known.get(name) for name in NETWORK_SETTINGS}


def _of_data(run: RunSpec) -> dict[str, Any]:
    samples, subset = run.samples, subset_of(run.samples)
    trained = images_to_train_on(samples)
    attack = samples.size if isinstance(samples, AttackSpec) else 0
    positive = getattr(subset, "positive", None)
    return {
        "data.source": source_id(subset.source).rpartition("-")[0],
        "data.positive": None if positive is None else ";".join(map(str, positive)),
        "data.train_size": trained - attack,
        "data.test_size": getattr(subset, "test_size", None),
        "data.label_noise": samples.fraction if isinstance(samples, NoiseSpec) else 0.0,
        "data.attack_size": attack,
        "batch": trained if run.batch == "full" else run.batch,
    }


def _of_net(run: RunSpec) -> dict[str, Any]:
    hidden = getattr(run.net, "hidden", None)
    if hidden is None:
        return {}
    return {"width": hidden[0] if hidden else None, "depth": len(hidden)}
