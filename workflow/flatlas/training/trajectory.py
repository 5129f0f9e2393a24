"""One layer's weights after every minibatch, on disk while they are recorded."""

import errno
import hashlib
import shutil
from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np
from torch import Tensor

from flatlas.store.atomic import replacing
from flatlas.store.large_arrays import new_array


class Trajectory:
    """A memory-mapped array (realization, minibatch, weights), which may exceed the memory.

    An interrupted training reopens it and clears the rows after the last saved epoch. The rows of
    a member that never met its stopping rule stay NaN.
    """

    array: np.memmap

    def __init__(self, path: Path, shape: tuple[int, int, int]) -> None:
        """Open nothing before `begin` or `reopen`."""
        self.path, self.shape = path, shape

    def begin(self) -> None:
        """Create a new file, all NaN."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.array = new_array(self.path, np.float32, self.shape)
        self.array[:] = np.nan

    def reopen(self, recorded: Sequence[int], checksum: str) -> bool:
        """Open the file of an interrupted training; False if it is gone or damaged.

        `recorded` has the number of steps that each member keeps, from its first.
        """
        header = self._header_size()
        if header < 0:
            return False
        self.array = np.memmap(self.path, np.float32, "r+", header, self.shape)
        if self.checksum(recorded) != checksum:
            return False
        for member, steps in zip(self.array, recorded, strict=True):
            member[steps:] = np.nan
        return True

    def _header_size(self) -> int:
        """The number of bytes before the array; negative if the file is too short."""
        size = self.path.stat().st_size if self.path.exists() else 0
        return size - prod(self.shape) * np.dtype(np.float32).itemsize

    def record(self, member: int, step: int, weights: Tensor) -> None:
        """Keep one member's weights."""
        self.array[member, step] = weights.detach().cpu().numpy().ravel()

    def checksum(self, recorded: Sequence[int]) -> str:
        """The SHA-256 of the file's header and of each member's first `recorded` steps."""
        with self.path.open("rb") as file:
            digest = hashlib.sha256(file.read(self._header_size()))
        for member, steps in zip(self.array, recorded, strict=True):
            digest.update(member[:steps].data)
        return digest.hexdigest()

    def finish(self, path: Path) -> None:
        """Move the complete file to its destination."""
        self.array.flush()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.path.replace(path)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            # The two folders may be on different disks.
            with replacing(path) as temporary:
                shutil.copyfile(self.path, temporary)
            self.path.unlink()
