"""A lock of one process, held until that process and those that inherited it have ended."""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from flatlas.errors import FlatlasError

logger = logging.getLogger("flatlas")


@contextmanager
def only_process(folder: str | Path) -> Iterator[int]:
    """Hold the lock of a folder, `<folder>.lock`; an error if a living process holds it.

    A child process that inherits the file descriptor holds the lock, too.
    """
    path = Path(f"{folder}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                lock.seek(0)
                raise FlatlasError(
                    f"process {lock.read().strip()}, or one that it started, still works on "
                    f"{folder}. Wait until it has ended, or end it, and give the same command "
                    "again: trainings continue from their saved state."
                ) from error
            except OSError as error:
                logger.warning(
                    "%s can't be locked, so another process may use it: %s", folder, error
                )
            if _is_at(path, lock):
                lock.truncate(0)
                lock.write(f"{os.getpid()} on {os.uname().nodename}\n")
                lock.flush()
                try:
                    yield lock.fileno()
                finally:
                    path.unlink(missing_ok=True)
                return


def _is_at(path: Path, file: IO[str]) -> bool:
    """Whether the open file is still at its path: the last holder may have deleted it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
