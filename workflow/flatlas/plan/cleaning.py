"""The results that only one study needs, which can be deleted without touching another."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.plan import paths
from flatlas.plan.graph import needed
from flatlas.plan.jobs import jobs_of
from flatlas.plan.plan import Plan
from flatlas.plan.resolve import resolve


def own_and_shared(
    plan: Plan, study: str, config: Mapping[str, Any], root: Path
) -> tuple[list[str], list[str]]:
    """The result folders that only this study needs, and those it shares, at the plan's preset.

    Shared are those that another study needs, or any study at another preset. The folder of its
    figures is its own.
    """
    own = plan.targets(study)
    wanted = _folders(plan, own)
    others = _folders(plan, [target for target in plan.figures if target not in own])
    for path in sorted((root / "presets").glob("*.yaml")):
        if path.stem != plan.settings.preset:
            other = _at(path.stem, config, root)
            others |= _folders(other, other.figures)
    figures = paths.RESULTS / plan.settings.preset / study
    return [str(figures), *sorted(wanted - others)], sorted(wanted & others)


def _at(preset: str, config: Mapping[str, Any], root: Path) -> Plan:
    """The plan of another preset, which must have no mistakes either."""
    try:
        return resolve({**config, "preset": preset}, root)
    except FlatlasError as error:
        raise FlatlasError(
            f"Nothing is deleted: the configuration has a mistake at preset '{preset}', which may"
            f" need the results. {error}"
        ) from error


def _folders(plan: Plan, targets: Iterable[str]) -> set[str]:
    """The folders of all results that these figures need, and of the trainings' saved states."""
    jobs = jobs_of(plan)
    before = needed(jobs)
    names = set[str]().union(*(before[target] for target in targets))
    folders = {str(Path(jobs[name].outputs["provenance"]).parent) for name in names}
    return folders | {paths.RESUME.format(run=name) for name in names & plan.runs.keys()}
