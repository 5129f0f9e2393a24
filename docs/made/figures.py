"""Every figure with what it takes: counted from the configuration, measured on some runs.

docs/made/costs/<preset>.csv holds what `snakemake costs` said after such a run.
"""

import sys
from functools import cache
from pathlib import Path

import pandas as pd
from pages import ROOT, table

sys.path.insert(0, str(ROOT / "workflow"))

from flatlas.plan.documents import read_yaml
from flatlas.plan.plan import Plan
from flatlas.plan.resolve import resolve
from flatlas.plan.work import jobs_of_targets
from flatlas.report.costs import duration

PRESETS = ("demo", "laptop", "paper")
COSTS = Path(__file__).parent / "costs"


@cache
def plan(preset: str) -> Plan:
    """What the shipped configuration asks for."""
    settings = read_yaml(ROOT / "config" / "config.yaml")
    return resolve({**settings, "preset": preset}, ROOT / "config")


def figures(study: str) -> str:
    """A row a figure: its target, what it shows, and what it takes at each scale."""
    rows = []
    for target in plan(PRESETS[0]).targets(study):
        title = plan(PRESETS[0]).figures[target].title
        rows.append([f"`{target}`", title, *(_takes(preset, target) for preset in PRESETS)])
    return table(["target", "shows", *PRESETS], rows)


def _takes(preset: str, target: str) -> str:
    """How many trainings, and how long all took where that was measured; of a figure or study."""
    time = _time(preset, target)
    return f"{_trainings(preset, target)}{' · ' * bool(time)}{time}"


def _trainings(preset: str, target: str) -> int:
    """Realizations of all runs that a figure needs."""
    runs = plan(preset).runs
    return sum(len(runs[name].seeds) for name in _needed(preset)[target] if name in runs)


@cache
def _needed(preset: str) -> dict[str, list[str]]:
    return jobs_of_targets(plan(preset))


def _time(preset: str, target: str) -> str:
    """What all jobs of a figure took, one after the other; nothing where there are others now."""
    measured = _costs(preset)
    if target not in measured.index:
        return ""
    row, jobs = measured.loc[target], len(_needed(preset)[target])
    return duration(float(row["measured_seconds"])) if row["made"] == row["jobs"] == jobs else ""


@cache
def _costs(preset: str) -> pd.DataFrame:
    path = COSTS / f"{preset}.csv"
    table = pd.read_csv(path) if path.is_file() else pd.DataFrame({"target": []})
    return table.set_index("target")


def all_figures() -> str:
    """A table a study."""
    parts = []
    for name, study in plan(PRESETS[0]).studies.items():
        parts += [f"## {name}: {study.title}", figures(name)]
    return "\n\n".join(parts)


def studies() -> str:
    """A row a study: its target, how many figures it has, and what it takes at each scale."""
    rows = []
    for name, study in plan(PRESETS[0]).studies.items():
        page = ROOT / "docs" / f"{name}.md"
        title = f"[{study.title}](docs/{page.name})" if page.is_file() else study.title
        figures = len(plan(PRESETS[0]).targets(name))
        rows.append([f"`{name}`", title, figures, *(_takes(preset, name) for preset in PRESETS)])
    return table(["target", "study", "figures", *PRESETS], rows)


FIGURES = {"figures": all_figures, "studies": studies}
