"""Arrays too large for memory: npy files that are filled and read piece by piece."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from flatlas.errors import FlatlasError
from flatlas.store.atomic import replacing
from flatlas.store.damage import unreadable


@contextmanager
def writing_array(path: str | Path, shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    """A float64 array on disk, to be filled."""
    with replacing(path) as temporary:
        array = new_array(temporary, np.float64, shape)
        yield array
        array.flush()


def new_array(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> np.memmap:
    """An array on disk whose space is reserved, so that filling it can't run out of disk."""
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    # If the disk had no space for a page of the map, SIGBUS would kill the process.
    if hasattr(os, "posix_fallocate"):
        try:
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
        except OSError as error:
            # Some file systems can't reserve space.
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                return array
            path.unlink()
            free = shutil.disk_usage(path.parent).free / 2**20
            raise FlatlasError(
                f"{path.parent} needs {array.nbytes / 2**20:.0f} MiB more, but its disk or quota "
                f"is full ({free:.0f} MiB free). Free some space, or make results/ a link to a "
                "larger disk."
            ) from error
    return array


def read_array(path: str | Path) -> np.ndarray:
    """The array, memory-mapped: only the parts that are used are read."""
    try:
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise unreadable(path, error) from error
    return array
