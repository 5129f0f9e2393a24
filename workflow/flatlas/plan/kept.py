"""Results of one command, kept for later ones as JSON in the user's cache folder.

Every entry is found by a hash of the content from which it was computed, never by a file's time. A
file that is damaged, missing or unreadable counts as absent, so nothing depends on the folder.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any


def content_hash(parts: Iterable[bytes]) -> str:
    """32 hexadecimal digits that change with any part, and with any boundary between parts."""
    lengths_and_parts = hashlib.sha256()
    for part in parts:
        lengths_and_parts.update(b"%d:" % len(part))
        lengths_and_parts.update(part)
    return lengths_and_parts.hexdigest()[:32]


def read_kept(name: str) -> Any:
    """What is kept under a name, or None."""
    try:
        path = cache_folder() / f"{name}.json"
        said, _, text = path.read_bytes().partition(b"\n")
        if said != _sum(text):
            return None
        with suppress(OSError):
            os.utime(path)
        return json.loads(text)
    except (OSError, RuntimeError, ValueError):
        return None


def keep(name: str, value: Any, at_most: int) -> None:
    """Keep a JSON value under a name. Its folder keeps the `at_most` names used last.

    The folder is the first part of the name: `plans/…`. Errors of writing are ignored.
    """
    text = json.dumps(value, separators=(",", ":")).encode()
    with suppress(OSError, RuntimeError):
        path = cache_folder() / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        # The process id keeps two writers apart.
        temporary = path.with_name(f"{path.stem}.{os.getpid()}.part")
        try:
            temporary.write_bytes(_sum(text) + b"\n" + text)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        _prune(path.parent, at_most)


def all_kept(folder: str) -> Iterator[Any]:
    """All values kept in a folder, the last used first."""
    with suppress(OSError, RuntimeError):
        files = sorted((cache_folder() / folder).glob("*.json"), key=_used, reverse=True)
        yield from (read_kept(f"{folder}/{file.stem}") for file in files)


def _used(path: Path) -> int:
    return path.stat().st_mtime_ns


def _prune(folder: Path, at_most: int) -> None:
    """Delete all but the files used last. Files that a killed process left grow old like others."""
    for path in sorted(folder.iterdir(), key=_used, reverse=True)[at_most:]:
        path.unlink(missing_ok=True)


def cache_folder() -> Path:
    """The user's cache folder of flatlas. If missing, it is made readable for this user only."""
    base = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(base) if base else Path.home() / ".cache") / "flatlas"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _sum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()
