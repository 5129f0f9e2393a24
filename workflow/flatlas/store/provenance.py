"""The provenance beside every result: its spec, code, machine, costs and checksums."""

import hashlib
import json
import os
import platform
import resource
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.store.damage import REMEDY
from flatlas.store.json_files import read_json, write_json

LIBRARIES = ("numpy", "scipy", "pandas", "torch", "torchvision", "scikit-learn", "matplotlib")
NAME = "provenance.json"
# The keys of the SHA-256 of each file of the result, and of the provenance without this entry.
OF_FILES, OF_ITSELF = "sha256", "sha256_of_provenance"
CHANGED = "it is not what its job wrote"


def write_provenance(
    path: str | Path,
    *,
    files: Iterable[str | Path],
    spec: Mapping[str, Any],
    code: str,
    seconds: float,
    **circumstances: Any,
) -> None:
    """Write the provenance of one result; `circumstances` has facts such as device and convergence.

    `files` are the other files of the result. They must be complete.
    """
    record = {
        "spec": spec,
        "code": code,
        "wall_seconds": round(seconds, 3),
        "peak_memory_mib": _peak_memory_mib(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": _versions(),
        **circumstances,
        OF_FILES: {Path(file).name: checksum(file) for file in files},
    }
    # Its checksum is of what JSON gives back: lists for tuples, and strings for keys.
    record = json.loads(json.dumps(record))
    write_json(path, {**record, OF_ITSELF: _own_checksum(record)})


def read_provenance(path: str | Path) -> dict[str, Any]:
    """The provenance as it was written; an error if any of it has changed since."""
    path = Path(path)
    try:
        record = read_json(path)
    except FlatlasError as error:
        raise _damaged(path, path, "it can't be read") from error
    if isinstance(record, dict) and OF_ITSELF not in record:
        raise _damaged(path, path, "an older flatlas wrote it, without checksums")
    if not isinstance(record, dict) or record.pop(OF_ITSELF) != _own_checksum(record):
        raise _damaged(path, path, CHANGED)
    return record


def verify(files: Iterable[str | Path]) -> None:
    """Raise an error unless each file of a result is, byte for byte, what its job wrote."""
    for error in damage(files):
        raise error


def damage(files: Iterable[str | Path]) -> Iterator[FlatlasError]:
    """An error for each damaged file of a result; a damaged provenance is named once."""
    known: dict[Path, dict[str, str] | None] = {}
    for path in map(Path, files):
        provenance = provenance_of(path)
        if provenance not in known:
            known[provenance] = None
            try:
                known[provenance] = read_provenance(provenance)[OF_FILES]
            except FlatlasError as error:
                yield error
        written = known[provenance]
        if path == provenance or written is None:
            continue
        why = _difference(path, written.get(path.name))
        if why:
            yield _damaged(path, provenance, why)


def provenance_of(path: Path) -> Path:
    """The provenance of a file: `fig3.json` for `fig3.claims.csv`, else that of its folder."""
    of_figure = path.with_name(f"{path.name.split('.')[0]}.json")
    return of_figure if of_figure.exists() else path.with_name(NAME)


def checksum(path: str | Path) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _difference(path: Path, expected: str | None) -> str:
    """Why a file does not have this checksum; '' if it has."""
    try:
        return "" if checksum(path) == expected else CHANGED
    except OSError as error:
        return f"it can't be read ({error.strerror})"


def _own_checksum(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _damaged(path: Path, provenance: Path, why: str) -> FlatlasError:
    linked = f", a link to {os.readlink(path)}," if path.is_symlink() else ""
    folder = path.parent
    remove = f"the folder {folder}" if provenance.name == NAME else folder / f"{provenance.stem}.*"
    return FlatlasError(f"{path}{linked} is damaged: {why}. Delete {remove}, {REMEDY}.")


def _peak_memory_mib() -> int:
    """The peak memory of this process, or of its largest child process, such as a learner."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(one).ru_maxrss for one in whose)
    # Kilobytes on Linux, bytes on macOS.
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def made_otherwise(path: str | Path, spec: Mapping[str, Any], code: str) -> bool:
    """Whether the provenance of a result names another spec or code than its job has now.

    False if the provenance is missing or damaged: Snakemake and `verify` deal with that.
    """
    try:
        record = read_json(path)
        return bool(record["spec"] != spec or record["code"] != code)
    except (FlatlasError, KeyError, TypeError):
        return False


def read_others(path: str | Path, originals: str) -> bool:
    """Whether a data set was read from other originals than these, as its provenance says.

    False if it says nothing, or is missing or damaged.
    """
    try:
        return bool(read_json(path).get("originals", originals) != originals)
    except (FlatlasError, AttributeError):
        return False
