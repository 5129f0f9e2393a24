"""A lock that only one process can hold, and that ends with that process."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flatlas.errors import FlatlasError


@contextmanager
def only_process(folder: str | Path) -> Iterator[None]:
    """Hold the lock of a folder, `<folder>.lock`; refuse if a living process holds it."""
    path = Path(f"{folder}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                lock.seek(0)
                raise FlatlasError(
                    f"process {lock.read().strip()} still works on {folder}. Wait until it has "
                    "ended, or end it; then the same command continues from what it has saved."
                ) from error
            # The last holder may have deleted the file after this process opened it.
            if not path.exists() or not os.path.samestat(os.fstat(lock.fileno()), path.stat()):
                continue
            lock.truncate(0)
            lock.write(f"{os.getpid()} on {os.uname().nodename}\n")
            lock.flush()
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return
