"""Flip bits in files of every kind and cut them: does anything take them for intact?"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from flatlas.errors import FlatlasError
from flatlas.jobs.output_cache import is_intact
from flatlas.store.provenance import NAME, verify
from flatlas.training.resume import Resume, read_state
from flatlas.training.trajectory import Trajectory

SHAPE, RECORDED = (2, 30, 40), (30, 12)


class Kind(NamedTuple):
    """Files of one kind, and what refuses or ignores a damaged one: True if it seems intact."""

    name: str
    files: list[Path]
    seems_intact: Callable[[Path], bool]


def kinds(results: Path, scratch: Path) -> Iterator[Kind]:
    """The kinds of files in a folder of results, of a saved state, and of a cache entry."""
    by_kind: dict[str, list[Path]] = {}
    for file in sorted(path for path in results.rglob("*") if path.is_file()):
        folder = file.relative_to(results).parts[0]
        if folder not in ("logs", "by-hand", "resume") and file.name != "README.md":
            name = file.name if folder in ("runs", "recordings", "kernels") else file.suffix
            by_kind.setdefault(f"{folder}: {name}", []).append(file)
    # Nothing reads the costs: each call writes them again.
    read = {kind: files for kind, files in by_kind.items() if "costs" not in files[0].name}
    for kind, files in read.items():
        yield Kind(kind, files, passes)
    state = Resume(scratch / "resume")
    state.save({"w": np.arange(300.0), "done": np.array(3)}, {"outcomes": [1, 2]})
    yield Kind("resume: state", [state.path], lambda path: read_state(path) is not None)
    yield recording(scratch)
    entry = cache_entry(next(results.glob("runs/*")), scratch)
    yield Kind("cache entry", list(entry.values()), lambda _: is_intact(entry))


def passes(file: Path) -> bool:
    """Whether a job would read the file."""
    try:
        verify([file])
    except FlatlasError:
        return False
    return True


def recording(scratch: Path) -> Kind:
    """An unfinished recording; what lies behind its recorded steps is written again."""
    trajectory = Trajectory(scratch / "recording.npy", SHAPE)
    trajectory.begin()
    for member, steps in enumerate(RECORDED):
        trajectory.array[member, :steps] = np.random.default_rng(member).random((steps, SHAPE[2]))
    whole, checksum = np.array(trajectory.array), trajectory.checksum(RECORDED)
    trajectory.array.flush()

    def seems_intact(path: Path) -> bool:
        again = Trajectory(path, SHAPE)
        same = again.reopen(RECORDED, checksum)
        return same and not np.array_equal(again.array, whole, equal_nan=True)

    return Kind("resume: recording", [trajectory.path], seems_intact)


def cache_entry(run: Path, scratch: Path) -> dict[Path, Path]:
    """The files of a run as a cache names them, by their names in the run's folder."""
    entry = {}
    for file in sorted(run.iterdir()):
        entry[file] = scratch / f"abc_{file.stem}{file.suffix}"
        entry[file].write_bytes(file.read_bytes())
    assert any(file.name == NAME for file in entry)
    return entry


def try_kinds(results: Path, scratch: Path, trials: int, seed: int) -> Iterator[dict[str, object]]:
    """A row of the table for each kind, after so many trials in all."""
    every = list(kinds(results, scratch))
    for kind in every:
        random = Random(f"{seed} {kind.name}")
        ends = Counter(one_trial(kind, random) for _ in range(-(-trials // len(every))))
        yield {"kind": kind.name, "tried": ends.total(), **ends}


def one_trial(kind: Kind, random: Random) -> str:
    """Damage a file as a failing disk would, keeping its times; then mend it again."""
    file = random.choice(kind.files)
    times, whole = file.stat(), file.read_bytes()
    at = random.randrange(len(whole))
    flipped = whole[:at] + bytes([whole[at] ^ (1 << random.randrange(8))]) + whole[at + 1 :]
    file.write_bytes(random.choice((flipped, flipped, whole[:at])))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    try:
        return "silent" if kind.seems_intact(file) else "found"
    except Exception as error:
        return f"traceback: {type(error).__name__}"
    finally:
        file.write_bytes(whole)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
