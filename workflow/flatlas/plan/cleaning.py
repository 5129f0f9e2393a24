"""What belongs to one study alone, so that it can go without taking anything from another."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.plan import paths
from flatlas.plan.plan import Plan
from flatlas.plan.resolve import resolve
from flatlas.plan.work import jobs_of_figures, planned_jobs


def own_and_shared(
    plan: Plan, study: str, config: Mapping[str, Any], root: Path
) -> tuple[list[str], list[str]]:
    """The folders of a study's results at the plan's scale: those to itself, those it shares.

    Shared is what another study needs, or any study at another scale of the configuration. The
    folder of its figures is its own.
    """
    wanted = _folders(plan, plan.targets(study))
    needed = _folders(plan, [name for name in plan.figures if name not in plan.targets(study)])
    for preset in sorted((root / "presets").glob("*.yaml")):
        if preset.stem != plan.preset:
            other = _at(preset.stem, config, root)
            needed |= _folders(other, other.figures)
    figures = Path(plan.scorecard_file(study, "csv")).parent
    return [str(figures), *sorted(wanted - needed)], sorted(wanted & needed)


def _at(preset: str, config: Mapping[str, Any], root: Path) -> Plan:
    """The same configuration at another scale, where it has to be without mistakes, too."""
    try:
        return resolve({**config, "preset": preset}, root)
    except FlatlasError as error:
        raise FlatlasError(
            f"Nothing is deleted: what preset '{preset}' needs can't be told with the present"
            f" settings. {error}"
        ) from error


def _folders(plan: Plan, targets: Iterable[str]) -> set[str]:
    """Where the jobs that figures need leave their results, and trainings their state."""
    jobs, needed = planned_jobs(plan), jobs_of_figures(plan)
    names = {name for target in targets for name in needed[target]} - set(plan.figures)
    folders = {str(Path(jobs[name].provenance).parent) for name in names}
    return folders | {paths.RESUME.format(run=name) for name in names & set(plan.runs)}
