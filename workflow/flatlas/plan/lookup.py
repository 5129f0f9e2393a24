"""What the rules ask of a plan, as a dictionary: worked out once for a configuration, then kept.

Snakemake reads the rules at each command, and each cluster job does it again. So a plan is resolved
when its configuration is first seen, and kept under a hash of everything that it follows from. A
configuration with a mistake is never kept, so the mistake is reported each time.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict, cast

import pydantic

from flatlas.plan.fingerprint import LIBRARY
from flatlas.plan.kept import content_hash, keep, read_kept

# Presets and changed settings, of several checkouts.
KEPT_PLANS = 24


class JobEntry(TypedDict):
    """What a rule asks of one job. `modules` are those that `stage_code` takes."""

    input: dict[str, str]
    spec: dict[str, Any]
    modules: list[str]
    ranks: int
    gpus: int
    mem_mb: int
    runtime: int


class FigureEntry(TypedDict):
    """What a rule asks of a figure; `results` are its files without the picture for the report."""

    study: str
    name: str
    title: str
    input: dict[str, list[str]]
    results: dict[str, str]
    png: str
    spec: dict[str, Any]
    modules: list[str]
    changes: list[tuple[str, str, str]]
    data: list[str]


class StudyEntry(TypedDict):
    """What pages ask of a study."""

    title: str
    paper: str
    figures: list[str]
    files: list[str]
    results: list[str]
    claims: list[str]
    scorecard: dict[str, str]


class Lookup(TypedDict):
    """Jobs by the id of what they make, figures by their target, and what holds for all."""

    preset: str
    judged: bool
    complete: bool
    warm_start: bool
    scale: str
    data_root: str
    compared: list[str | None]
    measures: dict[str, list[str]]
    sources: dict[str, JobEntry]
    samples: dict[str, JobEntry]
    runs: dict[str, JobEntry]
    kernels: dict[str, JobEntry]
    measurements: dict[str, JobEntry]
    figures: dict[str, FigureEntry]
    studies: dict[str, StudyEntry]
    pages: dict[str, dict[str, str]]
    stages: dict[str, Any]
    jobs: dict[str, dict[str, Any]]
    needed: dict[str, list[str]]
    own_files: list[str]


def lookup(config: Mapping[str, Any], root: Path, files: Iterable[str]) -> Lookup:
    """That of a configuration, with the studies and presets under `root`.

    `files` are the configuration files that Snakemake has read into `config`.
    """
    name = _name(config, root, files)
    kept = read_kept(name)
    if kept is None or not all(Path(file).is_file() for file in kept["own_files"]):
        # Here, since its models are slow to load.
        from flatlas.plan.answers import answers

        kept = json.loads(json.dumps(answers(config, root, files)))
        # A file may have changed since it was hashed.
        if name == _name(config, root, files):
            keep(name, kept, KEPT_PLANS)
    # JSON has no tuples, and Snakemake takes a list for a changed parameter.
    kept["stages"]["edges"] = [tuple(pair) for pair in kept["stages"]["edges"]]
    for figure in kept["figures"].values():
        figure["changes"] = [tuple(change) for change in figure["changes"]]
    return cast(Lookup, kept)


def _name(config: Mapping[str, Any], root: Path, files: Iterable[str]) -> str:
    return f"plans/{content_hash(_basis(config, root, files))}"


def _basis(config: Mapping[str, Any], root: Path, files: Iterable[str]) -> Iterator[bytes]:
    """Everything that a plan follows from, except the files of a user's own nets."""
    yield repr((config, sys.version_info, pydantic.VERSION)).encode()
    for file in files:
        yield Path(file).read_bytes()
    for path in sorted(root.glob("*/*.yaml")):
        yield str(path.relative_to(root)).encode()
        yield path.read_bytes()
    for folder, folders, names in os.walk(LIBRARY.parent):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        # Of other modules, and of captions, it counts that they are there.
        yield f"{folder.removeprefix(str(LIBRARY.parent))} {sorted(names)}".encode()
    for module in (LIBRARY / "errors.py", *sorted((LIBRARY / "plan").rglob("*.py"))):
        yield module.read_bytes()
