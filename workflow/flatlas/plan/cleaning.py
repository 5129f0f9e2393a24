"""The results that can be deleted: those that only one study needs, or that no study needs."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.plan import paths
from flatlas.plan.documents import yaml_files
from flatlas.plan.graph import needed
from flatlas.plan.jobs import jobs_of
from flatlas.plan.plan import Plan
from flatlas.plan.resolve import resolve

ID = re.compile("-[0-9a-f]{12}$")


def deletable(
    config: Mapping[str, Any], root: Path, study: str | None
) -> tuple[list[str], list[str]]:
    """The results to delete, and those that others share. Without a study: all unused results."""
    if study is None:
        return unused(config, root), []
    return own_and_shared(resolve(config, root), study, config, root)


def own_and_shared(
    plan: Plan, study: str, config: Mapping[str, Any], root: Path
) -> tuple[list[str], list[str]]:
    """The result folders that only this study needs, and those it shares, at the plan's preset.

    A result is shared if another study needs it, or any study at another preset. The folder of the
    study's figures is its own.
    """
    own = plan.targets(study)
    wanted = _folders(plan, own)
    others = _folders(plan, [target for target in plan.figures if target not in own])
    for preset in yaml_files(root / "presets"):
        if preset != plan.settings.preset:
            other = _at(preset, config, root)
            # A user's own figure is the same at every preset, unless it borrows.
            mine = [target for target in own if plan.figures[target].own]
            same = {one for one in mine if _folders(other, [one]) == _folders(plan, [one])}
            others |= _folders(other, other.figures.keys() - same)
    figures = paths.RESULTS / plan.settings.preset / study
    return [str(figures), *sorted(wanted - others)], sorted(wanted & others)


def unused(config: Mapping[str, Any], root: Path) -> list[str]:
    """The results that no figure needs at any preset, with the current settings.

    Only files that flatlas has written count: folders that are named by an id and have a
    provenance, saved states of trainings, the files of figures, and the pages of the user's
    networks.
    """
    plans = [_at(preset, config, root) for preset in yaml_files(root / "presets")]
    needed = set[str]().union(*(_folders(plan, plan.figures) for plan in plans))
    folders = {str(Path(record).parent) for record in paths.all_records()}
    folders |= {str(path) for path in Path().glob(paths.RESUME.format(run="*"))}
    drawn = {
        paths.FIGURE.format(preset=plan.settings.preset, study=study, figure=name, extension="json")
        for plan in plans
        for study, name in _drawn(plan)
    }
    figures = {str(path) for path in paths.RESULTS.glob("*/*/*.json")} - drawn
    files = [file for path in sorted(figures) for file in _files_of_figure(Path(path))]
    return [*sorted(one for one in folders - needed if ID.search(one)), *files]


def _drawn(plan: Plan) -> Iterator[tuple[str, str]]:
    """The study and the name of each figure, of the atlas' table and of the user's pages."""
    for one in plan.figures.values():
        yield one.study, one.name
    if paths.ATLAS in plan.studies:
        yield paths.ATLAS, paths.NETWORKS
    for study in paths.OF_SETTING:
        if study in plan.studies:
            yield study, paths.MY_PAGE


def _files_of_figure(provenance: Path) -> list[str]:
    """A figure's provenance file and the files that it lists; none if it is not of a figure.

    The spec names what draws the figure: another study if it is borrowed.
    """
    try:
        record = json.loads(provenance.read_bytes())
        is_figure = {"study", "figure"} <= {*record["spec"]}
        files = [*record["sha256"], provenance.name]
        own = all(file.startswith(f"{provenance.stem}.") for file in files)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []
    return [str(provenance.with_name(file)) for file in files] if is_figure and own else []


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
