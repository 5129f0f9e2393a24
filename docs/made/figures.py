"""Every figure with what it takes: trainings from the configuration, times from runs.

docs/made/costs/<preset>.csv is what `snakemake costs` wrote after such runs. A dry run estimates
times from <preset>_jobs.csv, the costs_by_job.csv of the same. `make costs` keeps both.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pandas as pd
from pages import ROOT, table

from flatlas.plan.documents import read_yaml
from flatlas.plan.graph import needed_by_targets
from flatlas.plan.jobs import jobs_of
from flatlas.plan.lookup import Job
from flatlas.plan.plan import Plan
from flatlas.plan.resolve import resolve
from flatlas.report.readable import duration

PRESETS = ("demo", "laptop", "paper")
REAL = PRESETS[1:]
COSTS = Path(__file__).parent / "costs"


@cache
def plan(preset: str) -> Plan:
    """The plan of the shipped configuration."""
    settings = read_yaml(ROOT / "config" / "config.yaml")
    return resolve({**settings, "preset": preset}, ROOT / "config")


@cache
def jobs(preset: str) -> dict[str, Job]:
    """The jobs of that plan."""
    return jobs_of(plan(preset))


@cache
def needed(preset: str) -> dict[str, list[str]]:
    """The jobs of each figure and study."""
    return needed_by_targets(plan(preset), jobs(preset))


def units(target: str, preset: str) -> float:
    """The size of all jobs of a figure or study."""
    return sum(jobs(preset)[name].work["units"] for name in needed(preset)[target])


def _costs(preset: str) -> pd.DataFrame:
    path = COSTS / f"{preset}.csv"
    costs = pd.read_csv(path) if path.is_file() else pd.DataFrame({"target": []})
    return costs.set_index("target")


def takes(target: str, presets: Iterable[str] = PRESETS) -> list[str]:
    """The trainings of a figure or study at each scale, and the time if it was measured."""
    cells = []
    for preset in presets:
        names, runs, costs = needed(preset)[target], plan(preset).runs, _costs(preset)
        cell = str(sum(len(runs[name].seeds) for name in names if name in runs))
        if target in costs.index:
            row = costs.loc[target]
            # A time counts only if all jobs of the present plan were measured, at their size.
            measured = row["made"] == row["jobs"] == len(names)
            if measured and row["units"] == units(target, preset):
                cell += f" · {duration(float(row['measured_seconds']))}"
        cells.append(cell)
    return cells


def all_figures() -> str:
    """A table for each study, with a row for each figure."""
    demo, parts = plan("demo"), []
    for name in demo.studies:
        rows = [
            [f"`{target}`", demo.figures[target].title, *takes(target, REAL)]
            for target in demo.targets(name)
        ]
        gallery = f"gallery/{name}/README.md"
        heading = f"[{name}]({gallery})" if (ROOT / "docs" / gallery).is_file() else name
        parts += [f"## {heading}", table(["target", "shows", *REAL], rows)]
    return "\n\n".join(parts)


def studies() -> str:
    """A row for each study."""
    rows = []
    for name, study in plan("demo").studies.items():
        page = ROOT / "docs" / f"{name}.md"
        title = f"[{study.title}](docs/{page.name})" if page.is_file() else study.title
        rows.append([f"`{name}`", title, len(plan("demo").targets(name)), *takes(name)])
    return table(["target", "study", "figures", *PRESETS], rows)


FIGURES = {"figures": all_figures, "studies": studies}
