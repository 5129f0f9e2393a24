"""Atomic writes: a file is complete or does not exist."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from platform import node


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary name beside `path`, renamed to it at the end and removed after a failure."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Machine and process distinguish writers. The extension stays: libraries choose a format by it.
    begin, end = f".{path.stem}.{node()}.", f".part{path.suffix}"
    _delete_leftovers(path.parent, begin, end)
    temporary = path.with_name(f"{begin}{os.getpid()}{end}")
    temporary.touch()
    permissions = temporary.stat().st_mode
    temporary.unlink()
    try:
        yield temporary
        # safetensors makes its files readable by the owner only.
        temporary.chmod(permissions)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _delete_leftovers(folder: Path, begin: str, end: str) -> None:
    """Delete temporary files that killed processes of this machine have left."""
    for left in folder.glob(f"{escape(begin)}*{escape(end)}"):
        process = left.name.removeprefix(begin).removesuffix(end)
        # Not a number: the file is of another machine, whose name begins with that of this one.
        if process.isdigit() and not _is_alive(int(process)):
            left.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
