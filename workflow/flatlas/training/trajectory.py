"""One layer's weights after every minibatch, on disk while they are recorded."""

from pathlib import Path

import numpy as np
from torch import Tensor


class Trajectory:
    """A memory-mapped array (realization, minibatch, weights): memory does not grow with it.

    An interrupted training finds it again and overwrites rows after the last saved epoch. A member
    that never met its stopping rule keeps NaN.
    """

    array: np.memmap

    def __init__(self, path: Path, shape: tuple[int, int, int]) -> None:
        """Open nothing before `begin` or `reopen`."""
        self.path, self.shape = path, shape

    def begin(self) -> None:
        """Create a new file, all NaN."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.array = np.lib.format.open_memmap(
            self.path, mode="w+", dtype=np.float32, shape=self.shape
        )
        self.array[:] = np.nan

    def reopen(self) -> bool:
        """Open the file of an interrupted training; False if it is gone."""
        if not self.path.exists():
            return False
        self.array = np.lib.format.open_memmap(self.path, mode="r+")
        return self.array.shape == self.shape

    def record(self, member: int, step: int, weights: Tensor) -> None:
        """Keep one member's weights."""
        self.array[member, step] = weights.detach().cpu().numpy().ravel()

    def finish(self, path: Path) -> None:
        """Move the complete file to its destination."""
        self.array.flush()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path.replace(path)
