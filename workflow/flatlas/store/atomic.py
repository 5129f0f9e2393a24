"""Writes that are seen whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary name beside `path`, renamed to it at the end; nothing stays after a failure."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The process id keeps two writers apart; the extension stays, since writers look at it.
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    temporary.touch()
    permissions = temporary.stat().st_mode
    temporary.unlink()
    try:
        yield temporary
        # safetensors would let the owner alone read what it writes.
        temporary.chmod(permissions)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
