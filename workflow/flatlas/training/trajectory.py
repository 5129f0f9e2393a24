"""One layer's weights after every minibatch, on disk while they are recorded."""

from pathlib import Path

import numpy as np
from torch import Tensor


class Trajectory:
    """A memory-mapped array (realization, minibatch, weights): memory does not grow with it.

    It lies where an interrupted training finds it again; rows beyond the last saved epoch are
    simply written again. A member that never met its stopping rule keeps NaN.
    """

    def __init__(self, path: Path, shape: tuple[int, int, int]) -> None:
        """Open the file of an interrupted training, or begin a new one."""
        self.path = path
        if path.exists():
            self.array = np.lib.format.open_memmap(path, mode="r+")
            if self.array.shape == shape:
                return
        path.parent.mkdir(parents=True, exist_ok=True)
        self.array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
        self.array[:] = np.nan

    def record(self, member: int, step: int, weights: Tensor) -> None:
        """Keep one member's weights."""
        self.array[member, step] = weights.detach().cpu().numpy().ravel()

    def finish(self, path: Path) -> None:
        """Move the whole file to where it belongs."""
        self.array.flush()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path.replace(path)
