"""Named arrays in safetensors files: no pickle, and the same bytes for the same arrays."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from flatlas.store.atomic import replacing
from flatlas.store.damage import unreadable


def write_arrays(path: str | Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write all arrays to one file."""
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    with replacing(path) as temporary:
        save_file(contiguous, temporary)


def array_names(path: str | Path) -> set[str]:
    """The names of a file's arrays."""
    with _opened(path) as file:
        return {*file.keys()}


def read_arrays(path: str | Path, names: Iterable[str] | None = None) -> dict[str, np.ndarray]:
    """The named arrays of a file, or all of them."""
    with _opened(path) as file:
        wanted = sorted(file.keys()) if names is None else names
        return {name: file.get_tensor(name) for name in wanted}


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    try:
        with safe_open(str(path), framework="numpy") as file:
            yield file
    except (SafetensorError, OSError) as error:
        raise unreadable(path, error) from error
