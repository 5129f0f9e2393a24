"""Arrays too large for memory: npy files that are filled and read piece by piece."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from flatlas.errors import FlatlasError
from flatlas.store.atomic import replacing


@contextmanager
def writing_array(path: str | Path, shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    """A float64 array on disk, to be filled."""
    with replacing(path) as temporary:
        array = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.float64, shape=shape)
        yield array
        array.flush()


def read_array(path: str | Path) -> np.ndarray:
    """The array, which stays on disk until a part of it is used."""
    try:
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError) as error:
        raise FlatlasError(
            f"{path} can't be read ({error}). Delete it, and snakemake makes it again."
        ) from error
    return array
