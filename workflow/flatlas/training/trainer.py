"""Training all realizations of a run side by side, as one stack of weights."""

import logging
import time
from collections.abc import Callable, Mapping

import numpy as np
import torch

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.nets import build_net
from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Rescaling, RunSpec
from flatlas.training import penalty
from flatlas.training.compiled import Compiled
from flatlas.training.evaluation import Evaluation, evaluate
from flatlas.training.gradient import gradient
from flatlas.training.images import StackedImages
from flatlas.training.kernel import Kernel
from flatlas.training.learners import Team, Together
from flatlas.training.optimizers import Ascent, Optimizer
from flatlas.training.optimizers.compiled import CompiledOptimizer
from flatlas.training.record import Record, Trained
from flatlas.training.resume import Resume
from flatlas.training.schedule import factor
from flatlas.training.stack import Stack

Report = Callable[..., None]
logger = logging.getLogger("flatlas")


def train(
    spec: RunSpec,
    samples: Samples,
    resume: Resume,
    report: Report,
    device: str = "cpu",
    start: Mapping[str, np.ndarray] | None = None,
    team: Team | None = None,
    kernel: Kernel | None = None,
) -> Trained:
    """The results, once every realization has ended; resumes from the state in `resume`, if any.

    `start` has the weights of the run that `spec.start` names; `team` is needed if not all learners
    are in this process. The `kernel`, if given, trains in place of torch; it needs a dense net, on
    the CPU, in one process.
    """
    trainer = Trainer(spec, samples, resume, device, start, team, kernel)
    while trainer.stack.members:
        trainer.epoch()
        progress = trainer.record.progress(trainer.stack)
        report(trainer.done_epochs, trainer.most_epochs, **progress)
    return trainer.record.trained()


class Trainer:
    """The training loop; `stack` has the members still in training, `record` all results."""

    def __init__(
        self,
        spec: RunSpec,
        samples: Samples,
        resume: Resume,
        device: str,
        start: Mapping[str, np.ndarray] | None = None,
        team: Team | None = None,
        kernel: Kernel | None = None,
    ) -> None:
        """Start from initial weights, or from an interrupted training's state."""
        self.spec, self.device, self.resume = spec, device, resume
        self.team: Team = team or Together(spec.learners)
        self.net = build_net(spec.net, spec.input_shape, spec.outputs)
        if self.most_epochs:
            self.net.refuse_training()
        self.images = StackedImages(samples, device)
        self.compiled = Compiled(kernel, self.net, spec.frozen or (), samples) if kernel else None
        self.minibatches = self._minibatches()
        self.record = self._new_record()
        self.stack = Stack(spec, self.net, self.team, self.compiled, device, start)
        if not self._restore():
            self._begin()

    @property
    def done_epochs(self) -> int:
        """The number of epochs done."""
        return self.stack.done_epochs

    @property
    def most_epochs(self) -> int:
        """The maximum number of epochs of a member."""
        return self.spec.stop.epochs + self.spec.stop.extra_epochs

    def _minibatches(self) -> range:
        """The position in the shuffled images at which each step starts.

        The last step may have fewer images; it is left out if they are fewer than the learners.
        """
        count, batch, m = self.images.count, self.spec.batch, self.spec.learner_count
        if count < m:
            raise FlatlasError(
                f"{m} learners can't share {count} images. Choose learners.count up to {count}."
            )
        size = count // m if batch == "full" else batch
        return range(0, count - m + 1, size * m)

    def _new_record(self) -> Record:
        steps = len(self.minibatches)
        return Record(self.spec, self.net, self.images, steps, self.resume.folder)

    def _begin(self) -> None:
        """Evaluate the initial weights; delete the files of an attempt that can't be resumed."""
        if self.team.leads:
            self.resume.forget()
        self.record.begin()
        evaluations = self._evaluate_and_record()
        if not self.most_epochs:
            self._drop_ended(evaluations)

    def _restore(self) -> bool:
        """Resume an interrupted training; False if none is found, or its trajectory is damaged."""
        found = self.resume.find()
        if found is None:
            return False
        arrays, facts = found
        if not self.record.restore(arrays, facts):
            self.record = self._new_record()
            return False
        logger.info("resuming after epoch %d", facts["done_epochs"])
        self.stack.restore(arrays, facts)
        return True

    def _save(self) -> None:
        """Save everything that a later process needs to continue with identical results."""
        began = time.monotonic()
        arrays = {**self.stack.arrays(), **self.record.arrays()}
        if self.team.leads:
            facts = {**self.stack.facts(), **self.record.facts(self.done_epochs)}
            self.resume.save(arrays, facts, began)

    def epoch(self) -> None:
        """Train on all images once, evaluate, and drop members that have ended."""
        began = time.monotonic()
        self.stack.done_epochs += 1
        orders = self.stack.streams.orders(self.images.count)
        optimizer = self.stack.optimizer
        if isinstance(optimizer, CompiledOptimizer):
            self._descend(optimizer, orders)
        else:
            for step, begin in enumerate(self.minibatches):
                self._step(optimizer, orders[:, begin : begin + self.minibatches.step])
                self.record.snapshot(self.stack, step)
        if self.spec.rescaling:
            self._rescale(self.spec.rescaling)
        self._drop_ended(self._evaluate_and_record())
        self.record.times.append(time.monotonic() - began)
        if self.stack.members and self._time_to_save():
            self._save()

    def _time_to_save(self) -> bool:
        return bool(self.team.from_leader(torch.tensor(float(self.resume.due()))))

    def _descend(self, optimizer: CompiledOptimizer, orders: torch.Tensor) -> None:
        """Take all steps of an epoch with the kernel, one member after another."""
        spec = self.spec
        assert self.compiled is not None
        for row, member in enumerate(self.stack.members):
            self.compiled.descend(
                optimizer,
                row,
                self.images.draw_of(member),
                orders[row],
                self.minibatches.step,
                self.stack.streams,
                self._learning_rate(),
                spec.penalty if penalty.acts(spec.penalty, self.done_epochs) else None,
                self.record.snapshots_of(member, self.done_epochs),
            )
        optimizer.steps += len(self.minibatches)

    def _step(self, optimizer: Optimizer, chosen: torch.Tensor) -> None:
        """Take one step; the learners share its images."""
        spec, stack, parameters = self.spec, self.stack, self.stack.parameters()
        rows = [member for member in stack.members for _ in range(stack.m)]
        m = spec.learner_count
        shared = chosen.shape[1] // m * m
        chosen = stack.of_learners_here(chosen[:, :shared].reshape(len(chosen) * m, -1))
        ascended: Ascent | None = getattr(optimizer, "ascended", None)
        point = self._ascended(ascended, rows, chosen) if ascended else parameters
        gradients = self._gradient(point, rows, chosen)
        if penalty.acts(spec.penalty, self.done_epochs):
            penalty.add_gradient(spec.penalty, parameters, gradients)
        self.team.mix(optimizer.parameters, gradients)
        optimizer.step(gradients, self._learning_rate())
        if spec.average and self.done_epochs >= spec.average.from_epoch:
            stack.add_to_average()

    def _ascended(self, ascended: Ascent, rows: list[int], chosen: torch.Tensor) -> Parameters:
        """The point where a step takes its gradient; both gradients have the same dropout masks."""
        parameters, streams = self.stack.parameters(), self.stack.streams
        drawn = streams.state()
        gradients = self._gradient(parameters, rows, chosen)
        streams.restore(drawn)
        return {**parameters, **ascended(gradients)}

    def _gradient(
        self, parameters: Parameters, rows: list[int], chosen: torch.Tensor
    ) -> Parameters:
        """The gradient of each row's mean loss over its images; `rows` are the rows' members."""
        streams = self.stack.streams
        if self.compiled:
            draws = [self.images.draw_of(member) for member in rows]
            return self.compiled.gradient(parameters, draws, chosen, streams)
        inputs, labels = self.images.minibatch(rows, chosen)
        masks = streams.masks(self.net, chosen.shape[1], self.device)
        bfloat16 = self.spec.precision == "bfloat16"
        return gradient(self.net, parameters, inputs, labels, masks, bfloat16)

    def _learning_rate(self) -> float:
        return self.spec.optimizer.lr * factor(
            self.spec.schedule, self.done_epochs, self.spec.stop.epochs
        )

    def _rescale(self, rescaling: Rescaling) -> None:
        """Apply the α-scaling to each member that is due for it.

        The stopping rule is applied after this, so `after` counts whole epochs since it was met.
        """
        for row, member in enumerate(self.stack.members):
            met = self.record.outcomes[member].met_epoch
            if met and self.done_epochs == met + rescaling.after:
                self.stack.rescale(row, rescaling)

    def _evaluate_and_record(self) -> list[Evaluation]:
        """Evaluate the solution and record it."""
        solution = self.stack.solution()
        evaluations = self._from_leader(self._evaluate(solution))
        self.record.add(self.stack, solution, evaluations)
        return evaluations

    def _evaluate(self, solution: Parameters) -> list[Evaluation]:
        members = self.stack.members
        if self.compiled:
            return self.compiled.evaluate(solution, [self.images.draw_of(one) for one in members])
        return evaluate(self.net, solution, self.images, members)

    def _from_leader(self, evaluations: list[Evaluation]) -> list[Evaluation]:
        """The leader's evaluations: the same members must end in all processes."""
        values = torch.tensor(evaluations, dtype=torch.float64)
        return [Evaluation(*row) for row in self.team.from_leader(values).tolist()]

    def _drop_ended(self, evaluations: list[Evaluation]) -> None:
        """Apply the stopping rule; members that have ended leave the stack."""
        self.record.apply_rule(self.stack, evaluations)
        members, outcomes = self.stack.members, self.record.outcomes
        staying = [row for row, member in enumerate(members) if not outcomes[member].ended]
        if len(staying) < len(members):
            self.stack.keep(staying)
