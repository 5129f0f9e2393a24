"""A training job, which reads its input from files and writes its results to files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flatlas.data.samples import load_samples
from flatlas.plan.training_specs import RunSpec
from flatlas.store.arrays import read_arrays, write_arrays
from flatlas.store.tables import write_table
from flatlas.training.backend import backend_name, choose_kernel
from flatlas.training.learners import Team
from flatlas.training.resume import Resume
from flatlas.training.trainer import Report, train


@dataclass(frozen=True)
class TrainingTask:
    """The files that a training reads, and the paths of its results and its saved state."""

    spec: Mapping[str, Any]
    images: str
    samples: str
    start: str | None
    outputs: Mapping[str, str]
    resume: str
    identity: str
    place: str

    def run(self, device: str, report: Report, team: Team | None = None) -> str:
        """Train, and return the backend's name. In a team only the leader writes files."""
        spec = RunSpec.model_validate(self.spec)
        samples = load_samples(self.images, self.samples, spec.seeds)
        start = None if self.start is None else read_arrays(self.start)
        kernel = choose_kernel(spec, samples, device, team)
        backend = backend_name(kernel)
        place = self.place if team is not None else f"{self.place}, {backend}"
        resume = Resume(Path(self.resume), self.identity, place)
        trained = train(spec, samples, resume, report, device, start, team, kernel)
        if team is not None and not team.leads:
            return backend
        write_arrays(self.outputs["weights"], trained.weights)
        for table in ("history", "outcomes", "times"):
            write_table(self.outputs[table], getattr(trained, table))
        if trained.trajectory is not None:
            trained.trajectory.finish(Path(self.outputs["trajectory"]))
        return backend
