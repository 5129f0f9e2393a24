"""The inputs that some measures need besides weights and images."""

from typing import Any

from flatlas.data.samples import load_samples
from flatlas.plan.training_specs import RunSpec
from flatlas.store.large_arrays import read_array
from flatlas.store.tables import read_table


class ExtraInputs:
    """The additional inputs of a job. The solutions of each realization get their part of them."""

    def __init__(self, files: Any, run: RunSpec) -> None:
        """Trajectories and kernels stay on disk, since a realization needs only one of many."""
        self.functions = read_table(files.functions) if hasattr(files, "functions") else None
        self.trajectories = read_array(files.trajectory) if hasattr(files, "trajectory") else None
        self.kernels = read_array(files.kernel) if hasattr(files, "kernel") else None
        self.second_task = (
            load_samples(files.images, files.second_task, run.seeds)
            if hasattr(files, "second_task")
            else None
        )

    def of(self, member: int, seed: int) -> dict[str, Any]:
        """The fields of a `Solution` from the files; a single draw's kernel serves all."""
        found: dict[str, Any] = {"functions": self.functions}
        if self.trajectories is not None:
            found["trajectory"] = self.trajectories[member]
        if self.kernels is not None:
            found["kernel"] = self.kernels[member if len(self.kernels) > 1 else 0]
        if self.second_task is not None:
            found["second_task"] = self.second_task.of(seed)
        return found
