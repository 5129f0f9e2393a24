"""What a training records: learning curves, outcomes, weights at moments, a layer's trajectory."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import RunSpec
from flatlas.training import penalty
from flatlas.training.evaluation import Evaluation, batch_statistics
from flatlas.training.given_weights import doubt
from flatlas.training.images import StackedImages
from flatlas.training.kept_weights import FINAL, KeptWeights, checkpoint, overtrained
from flatlas.training.outcome import Outcome
from flatlas.training.resume import section
from flatlas.training.stack import Stack
from flatlas.training.trajectory import Trajectory


@dataclass(frozen=True)
class Trained:
    """The results of a training: weights by moment and name, and its tables."""

    weights: dict[str, np.ndarray]
    history: pd.DataFrame
    outcomes: pd.DataFrame
    times: pd.DataFrame
    trajectory: Trajectory | None


class Record:
    """The results so far of all members, both those in training and those that have ended."""

    def __init__(
        self, spec: RunSpec, net: LayeredNet, images: StackedImages, steps: int, folder: Path
    ) -> None:
        """Start empty; an epoch has `steps` steps, and a trajectory goes into `folder`."""
        self.spec, self.net, self.images, self.steps = spec, net, images, steps
        self.outcomes = [Outcome(seed) for seed in spec.seeds]
        self.kept = KeptWeights(len(spec.seeds))
        self.history: list[tuple[float, ...]] = []
        self.times: list[float] = []
        self.trajectory = self._trajectory(folder)

    def _trajectory(self, folder: Path) -> Trajectory | None:
        if self.spec.snapshots is None:
            return None
        layer = self.net.layer(self.spec.snapshots)
        weights = prod(layer.shapes[f"{layer.name}.weight"])
        shape = (len(self.spec.seeds), self.steps * self.spec.stop.extra_epochs, weights)
        return Trajectory(folder / "trajectory.npy", shape)

    def begin(self) -> None:
        """Begin a new trajectory, if the spec asks for one."""
        if self.trajectory is not None:
            self.trajectory.begin()

    def add(self, stack: Stack, solution: Parameters, evaluations: Sequence[Evaluation]) -> None:
        """Add the evaluations to the history, and keep the solution at a checkpoint."""
        norms = penalty.weight_norms(solution).tolist()
        epoch = stack.done_epochs
        for row, (member, evaluation) in enumerate(zip(stack.members, evaluations, strict=True)):
            self.history.append((epoch, self.spec.seeds[member], *evaluation, norms[row]))
            if epoch in self.spec.checkpoints:
                self._keep(checkpoint(epoch), row, stack, solution)

    def apply_rule(self, stack: Stack, evaluations: Sequence[Evaluation]) -> None:
        """Apply the stopping rule to each member, and keep the weights of those that have ended."""
        solution = stack.solution()
        for row, (member, evaluation) in enumerate(zip(stack.members, evaluations, strict=True)):
            outcome = self.outcomes[member]
            outcome.update(self.spec.stop, stack.done_epochs, evaluation)
            if self.spec.given_weights and outcome.converged:
                outcome.reason = self._doubt(member, evaluation) or outcome.reason
            beyond = stack.done_epochs - outcome.met_epoch
            if outcome.met_epoch and beyond in self.spec.overtraining:
                self._keep(overtrained(beyond), row, stack, solution)
            if outcome.ended:
                self._keep(FINAL, row, stack, solution)
                if stack.average.steps:
                    self._keep(f"{FINAL}.last", row, stack, stack.iterate())

    def _doubt(self, member: int, evaluation: Evaluation) -> str | None:
        draw = self.images.draw_of(member)
        labels = self.images.labels[draw][self.images.clean[draw]]
        return doubt(evaluation, labels, self.spec.expected)

    def _keep(self, moment: str, row: int, stack: Stack, solution: Parameters) -> None:
        member = stack.members[row]
        one = {name: value[row : row + 1] for name, value in solution.items()}
        weights = {name: value[0] for name, value in one.items()}
        statistics = batch_statistics(self.net, one, self.images, member)
        self.kept.keep(moment, member, {**weights, **statistics})
        if self.spec.learners and not moment.endswith(".last"):
            self.kept.keep(f"{moment}.learners", member, stack.learners_of(row))

    def snapshot(self, stack: Stack, step: int) -> None:
        """Record the layer of each member that is past its stopping rule, after this step."""
        if self.trajectory is None:
            return
        past = [row for row, member in enumerate(stack.members) if self.outcomes[member].met_epoch]
        if not past:
            # The iterate may be a mean over learners, which costs time.
            return
        weights = stack.iterate()[f"{self.spec.snapshots}.weight"]
        for row in past:
            member = stack.members[row]
            position = self._first_step(member, stack.done_epochs) + step
            self.trajectory.record(member, position, weights[row])

    def snapshots_of(self, member: int, epoch: int) -> tuple[str, np.ndarray] | None:
        """The layer to record in this epoch and the array to write to; None if none is recorded."""
        if self.trajectory is None or not self.outcomes[member].met_epoch:
            return None
        assert self.spec.snapshots is not None
        begin = self._first_step(member, epoch)
        return self.spec.snapshots, self.trajectory.array[member, begin : begin + self.steps]

    def _first_step(self, member: int, epoch: int) -> int:
        """The place in the trajectory of the first step of an epoch."""
        return (epoch - self.outcomes[member].met_epoch - 1) * self.steps

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that a later process resumes from."""
        if self.trajectory is not None:
            self.trajectory.array.flush()
        return {
            **{f"kept/{name}": value for name, value in self.kept.arrays.items()},
            "history": np.array(self.history),
            "times": np.array(self.times),
        }

    def facts(self, done_epochs: int) -> dict[str, Any]:
        """The outcomes so far, and a checksum of what was recorded on disk."""
        outcomes = [asdict(outcome) for outcome in self.outcomes]
        if self.trajectory is None:
            return {"outcomes": outcomes}
        checksum = self.trajectory.checksum(self._recorded(done_epochs))
        return {"outcomes": outcomes, "trajectory": checksum}

    def restore(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> bool:
        """Continue from saved arrays and facts; False if the trajectory on disk is not intact."""
        self.outcomes = [Outcome(**outcome) for outcome in facts["outcomes"]]
        self.kept.arrays = section("kept", arrays)
        self.history = [tuple(row) for row in arrays["history"].tolist()]
        self.times = arrays["times"].tolist()
        if self.trajectory is None:
            return True
        return self.trajectory.reopen(self._recorded(facts["done_epochs"]), facts["trajectory"])

    def _recorded(self, done_epochs: int) -> list[int]:
        """The number of recorded steps of each member."""
        extra, met = self.spec.stop.extra_epochs, [one.met_epoch for one in self.outcomes]
        return [min(done_epochs - epoch, extra) * self.steps if epoch else 0 for epoch in met]

    def progress(self, stack: Stack) -> dict[str, Any]:
        """The facts in the progress line."""
        last = self.history[-len(self.outcomes) :]
        latest = [loss for epoch, _, loss, *_ in last if epoch == last[-1][0]]
        ended = sum(outcome.ended for outcome in self.outcomes)
        return {
            "epoch": stack.done_epochs,
            "loss": f"{np.mean(latest):.2e}",
            "ended": f"{ended}/{len(self.outcomes)}",
        }

    def trained(self) -> Trained:
        """The results, once every member has ended."""
        for epoch in self.spec.checkpoints:
            for member, outcome in enumerate(self.outcomes):
                if outcome.epoch < epoch:
                    for part in ("", ".learners"):
                        self.kept.fill(checkpoint(epoch) + part, member, FINAL + part)
        columns = ["epoch", "seed", *Evaluation._fields, "weight_norm"]
        history = pd.DataFrame(self.history, columns=columns)
        history = history.astype({"epoch": int, "seed": int})
        outcomes = pd.DataFrame(
            [asdict(one) | {"converged": one.converged} for one in self.outcomes]
        )
        times = pd.DataFrame({"epoch": range(1, len(self.times) + 1), "seconds": self.times})
        return Trained(self.kept.arrays, history, outcomes, times, self.trajectory)
