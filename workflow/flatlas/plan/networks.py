"""The job of the atlas' measure table: its networks, and the settings of each."""

from collections.abc import Mapping
from typing import Any

from flatlas.plan.described import described
from flatlas.plan.figure_jobs import digest_of, inputs_of, tables_of
from flatlas.plan.further_settings import further_settings
from flatlas.plan.lookup import Job
from flatlas.plan.paths import ATLAS, NETWORKS, figure_files
from flatlas.plan.plan import Entry, FigurePlan, Plan
from flatlas.plan.points import points_of

TARGET = f"{ATLAS}_{NETWORKS}"
# The measure with a network's errors and losses. The table leaves out networks without it.
NEEDED = "norms"


def networks_job(plan: Plan, jobs: Mapping[str, Job]) -> Job | None:
    """The job that writes the table of all networks in the atlas' figures; None if it has none."""
    shown = [figure for figure in plan.figures.values() if figure.study == ATLAS]
    entries = _entries(shown)
    if not entries:
        return None
    tables = tables_of(entries, jobs)
    inputs = inputs_of(entries, tables, jobs)
    kinds = {"parquet": "parquet", "csv": "csv", "provenance": "json"}
    return Job(
        rule=TARGET,
        script="networks",
        inputs=inputs,
        outputs=figure_files(plan.settings.preset, ATLAS, NETWORKS, kinds),
        spec={
            "study": ATLAS,
            "figure": NETWORKS,
            "points": points_of(entries, tables, plan.runs),
            **_settings(plan, entries),
            "inputs": digest_of(inputs),
        },
        modules=[],
        mem_mb=2000,
        runtime=10,
        work={"stage": "networks", "net": "", "units": 1},
    )


def _settings(plan: Plan, entries: tuple[Entry, ...]) -> dict[str, Any]:
    """What each network's row says, with columns for settings that only some studies vary."""
    said = described(plan, entries)
    further, types = further_settings({name: plan.runs[name] for name in said["settings"]})
    settings = {name: known | further[name] for name, known in said["settings"].items()}
    return said | {"settings": settings, "types": said["types"] | types}


def _entries(figures: list[FigurePlan]) -> tuple[Entry, ...]:
    """Each run of each sweep once, with all measures that any of the figures takes of it."""
    found: dict[tuple[str, str], Entry] = {}
    for figure in figures:
        for entry in figure.entries:
            if NEEDED in entry.measurements:
                place = entry.sweep, entry.run
                known = found[place].measurements if place in found else {}
                both = {**known, **entry.measurements}
                # The table names the folder of each group of realizations.
                found[place] = Entry(entry.sweep, entry.point, entry.run, entry.run, both)
    return tuple(found.values())
