"""What the rules look up: resolved once for a configuration, then kept.

Snakemake reads the rules in every command, and again in every job on a cluster. So a plan is
resolved only once for each configuration, and kept under a hash of everything it depends on. A plan
with a mistake is never kept, so the mistake is reported each time.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic

from flatlas.plan import drawings, named_modules
from flatlas.plan.fingerprint import LIBRARY
from flatlas.plan.kept import content_hash, keep, read_kept
from flatlas.plan.trees import USER, check_tree

# Enough for some presets, changed settings and checkouts.
KEPT_PLANS = 24


@dataclass(frozen=True)
class Job:
    """One job: its rule and script, its files by name, its parameters, and what it requests.

    `modules` are the modules picked by name that its code fingerprint covers. `work` compares its
    size with that of other jobs (flatlas.plan.work). Of the jobs that are ready, those with the
    highest `priority` start first.
    """

    rule: str
    script: str
    inputs: dict[str, Any]
    outputs: dict[str, str]
    spec: dict[str, Any]
    modules: list[str]
    mem_mb: int
    runtime: int
    work: dict[str, Any]
    ranks: int = 1
    gpus: int = 0
    priority: int = 0

    def files_read(self) -> Iterator[str]:
        """All input files. (A figure reads a list of files for each table.)"""
        for files in self.inputs.values():
            yield from [files] if isinstance(files, str) else files


@dataclass(frozen=True)
class Figure:
    """What pages show about a figure. The job of the same target has its files.

    `caption` is its file among the studies.
    """

    study: str
    name: str
    title: str
    caption: str
    changes: list[tuple[str, str, str]]
    data: list[str]


@dataclass(frozen=True)
class Study:
    """What pages show about a study. `results` are the files that the study's target makes."""

    title: str
    paper: str
    figures: list[str]
    results: list[str]
    scorecard: dict[str, str]


@dataclass(frozen=True)
class Lookup:
    """Jobs by id, figures by target, studies by name, and what applies to all of them.

    `measures` has the outputs of each measure's rule, `meanings` what it measures, `needed` the
    jobs behind each figure and study, `picture` what the picture of the plan shows, `own_files` the
    state of each file of a user's own nets, and `unused` where a preset or a user has
    declared what no figure needs.
    """

    preset: str
    judged: bool
    complete: bool
    warm_start: bool
    scale: str
    data_root: str
    compared: list[str | None]
    measures: dict[str, dict[str, str]]
    meanings: dict[str, str]
    jobs: dict[str, Job]
    figures: dict[str, Figure]
    studies: dict[str, Study]
    pages: dict[str, dict[str, str]]
    picture: dict[str, Any]
    needed: dict[str, list[str]]
    own_files: dict[str, str | None]
    unused: list[str]


def lookup(config: Mapping[str, Any], root: Path, files: Iterable[str]) -> Lookup:
    """The lookup of a configuration, with the studies and presets under `root`.

    `files` are the configuration files that Snakemake has read into `config`.
    """
    check_tree(config, USER)
    name = _name(config, root, files)
    kept = read_kept(name)
    if kept is None or any(own_state(file) != was for file, was in kept["own_files"].items()):
        # Imported here because its models are slow to load.
        from flatlas.plan.answers import answers

        kept = json.loads(json.dumps(answers(config, root, files), default=vars))
        # Hashed again: a file may have changed meanwhile.
        if name == _name(config, root, files):
            keep(name, kept, KEPT_PLANS)
    return _from_json(kept)


def own_state(file: str) -> str | None:
    """A hash of a module's text, or the size of a file of weights; None if it can't be read."""
    path = Path(file)
    try:
        if path.suffix == ".py":
            return content_hash([path.read_bytes()])
        return str(path.stat().st_size) if path.is_file() else None
    except OSError:
        return None


def _from_json(kept: dict[str, Any]) -> Lookup:
    """A lookup from its JSON, with tuples: Snakemake would take a list for a changed parameter."""
    kept["picture"]["edges"] = [tuple(pair) for pair in kept["picture"]["edges"]]
    for figure in kept["figures"].values():
        figure["changes"] = [tuple(change) for change in figure["changes"]]
    for name, kind in {"jobs": Job, "figures": Figure, "studies": Study}.items():
        kept[name] = {key: kind(**entry) for key, entry in kept[name].items()}
    return Lookup(**kept)


def _name(config: Mapping[str, Any], root: Path, files: Iterable[str]) -> str:
    return f"plans/{content_hash(_basis(config, root, files))}"


def _basis(config: Mapping[str, Any], root: Path, files: Iterable[str]) -> Iterator[bytes]:
    """Everything that a plan depends on, except the files of a user's own nets."""
    yield repr((config, sys.version_info, pydantic.VERSION)).encode()
    for file in files:
        yield Path(file).read_bytes()
    for path in sorted(root.rglob("*.yaml")):
        yield str(path.relative_to(root)).encode()
        yield path.read_bytes()
    for folder, folders, names in os.walk(LIBRARY.parent):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        # Other modules and captions count by their names and by the parts that a plan reads.
        yield f"{folder.removeprefix(str(LIBRARY.parent))} {sorted(names)}".encode()
    yield repr((drawings.what_is_checked(), named_modules.what_is_checked())).encode()
    outside = (LIBRARY / name for name in ("errors.py", "layer_names.py"))
    for module in (*outside, *sorted((LIBRARY / "plan").rglob("*.py"))):
        yield module.read_bytes()
