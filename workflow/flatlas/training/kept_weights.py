"""The weights that a training keeps: at the end, at checkpoints, and after its rule was met.

Names are `<moment>/<parameter>`; each array has a leading axis of realizations::

    final/fc1.weight         the solution at the end
    met+00010/fc1.weight     the solution 10 epochs after the stopping rule was met
    epoch-00010/fc1.weight   the solution at a checkpoint (a finished member's: its final weights)
    final.learners/...       (realization, learner, ...), where there are learners
    final/features.….running_mean   batch-norm statistics of the clean training images, re-estimated
    final.last/...           the last iterate, where the solution is an average of iterates
"""

from collections.abc import Mapping

import numpy as np
from torch import Tensor

FINAL = "final"


def checkpoint(epoch: int) -> str:
    """The moment called 'epoch-00010'."""
    return f"epoch-{epoch:05d}"


def overtrained(epochs: int) -> str:
    """The moment called 'met+00010'."""
    return f"met+{epochs:05d}"


class KeptWeights:
    """Arrays that are filled member by member; moments never reached stay NaN."""

    def __init__(self, members: int) -> None:
        """Start with nothing kept."""
        self.members = members
        self.arrays: dict[str, np.ndarray] = {}

    def keep(self, moment: str, member: int, weights: Mapping[str, Tensor]) -> None:
        """Keep one member's weights."""
        for name, value in weights.items():
            array = value.detach().cpu().numpy()
            full = f"{moment}/{name}"
            if full not in self.arrays:
                self.arrays[full] = np.full((self.members, *array.shape), np.nan, array.dtype)
            self.arrays[full][member] = array

    def fill(self, moment: str, member: int, source: str) -> None:
        """Copy the weights of a member that has ended to another moment."""
        for name in [name for name in self.arrays if name.startswith(f"{source}/")]:
            copy = moment + name.removeprefix(source)
            if copy not in self.arrays:
                self.arrays[copy] = np.full_like(self.arrays[name], np.nan)
            self.arrays[copy][member] = self.arrays[name][member]
