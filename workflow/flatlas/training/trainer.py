"""Training all realizations of a run side by side, as one stack of weights."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, dataclass
from math import prod
from typing import Any

import numpy as np
import pandas as pd
import torch

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.nets import build_net
from flatlas.nets.layers import Parameters
from flatlas.nets.rescaling import rescaled
from flatlas.plan.training_specs import Rescaling, RunSpec
from flatlas.training import learners, penalty
from flatlas.training.averaging import RunningMean
from flatlas.training.compiled import Compiled
from flatlas.training.evaluation import Evaluation, batch_statistics, evaluate
from flatlas.training.gradient import gradient
from flatlas.training.images import StackedImages
from flatlas.training.keepsakes import FINAL, Keepsakes, checkpoint, overtrained
from flatlas.training.kernel import Kernel
from flatlas.training.learners import Team, Together
from flatlas.training.optimizers import Optimizer, build_optimizer, compiled_rule
from flatlas.training.optimizers.compiled import CompiledOptimizer
from flatlas.training.outcome import Outcome
from flatlas.training.resume import Resume
from flatlas.training.schedule import factor
from flatlas.training.start import initial_weights, layer_of, starts
from flatlas.training.streams import OF_MEMBERS, Streams
from flatlas.training.trajectory import Trajectory

Report = Callable[..., None]
logger = logging.getLogger("flatlas")


@dataclass(frozen=True)
class Trained:
    """What a training leaves: weights by moment and name, and its tables."""

    weights: dict[str, np.ndarray]
    history: pd.DataFrame
    outcomes: pd.DataFrame
    times: pd.DataFrame
    trajectory: Trajectory | None


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
    """Train until every realization has ended; go on from `resume` where there is something.

    `start` holds the weights of the run that `spec.start` names; `team` knows where the learners
    are, if not all in this process. The `kernel` trains in torch's place where it is given, which
    takes a dense net, all of it in this process, on the CPU.
    """
    trainer = Trainer(spec, samples, resume, device, start, team, kernel)
    while trainer.members:
        trainer.epoch()
        told = trainer.told()
        report(trainer.done_epochs, trainer.most_epochs, **told)
    return trainer.trained()


class Trainer:
    """The stack of members that still train, and what those that have ended left behind.

    `members` holds the number of each row's realization. A member that ends leaves the stack;
    since each has its own random streams, the others don't notice. `frozen` has the weights that no
    step moves, a row a member; the optimizer has the others.
    """

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
        self.team = team or Together(spec.learners)
        self.net = build_net(spec.net, spec.input_shape, spec.outputs)
        self.images = StackedImages(samples, device)
        self.compiled = Compiled(kernel, self.net, spec.frozen or (), samples) if kernel else None
        self.m = len(self.team.here)
        self.members = list(range(len(spec.seeds)))
        self.streams = Streams(spec.seeds, self.team.here, starts(spec))
        self.outcomes = [Outcome(seed) for seed in spec.seeds]
        self.keepsakes = Keepsakes(len(spec.seeds))
        self.average = RunningMean()
        self.done_epochs = 0
        self.history: list[tuple[float, ...]] = []
        self.times: list[float] = []
        self.minibatches = self._minibatches()
        self.trajectory = self._trajectory()
        weights = {
            name: value.to(device) for name, value in initial_weights(spec, self.net, start).items()
        }
        still = [name for name in weights if layer_of(name) in (spec.frozen or ())]
        self.frozen = {name: weights.pop(name) for name in still}
        self._build_optimizer(learners.spread(weights, self.m))
        if not self._restore():
            self._begin()

    @property
    def most_epochs(self) -> int:
        """The epochs that a member can take at most."""
        return self.spec.stop.epochs + self.spec.stop.extra_epochs

    def epoch(self) -> None:
        """One pass over the images, a look at where it led, and what follows from it."""
        began = time.monotonic()
        self.done_epochs += 1
        orders = self.streams.orders(self.images.count)
        if isinstance(self.optimizer, CompiledOptimizer):
            self._descend(self.optimizer, orders)
        else:
            for step, begin in enumerate(self.minibatches):
                self._step(self.optimizer, orders[:, begin : begin + self.minibatches.step])
                self._record_snapshots(step)
        if self.spec.rescaling:
            self._rescale(self.spec.rescaling)
        evaluations = self._look(self._solution())
        self._judge(evaluations)
        self.times.append(time.monotonic() - began)
        if self.members and self._time_to_save():
            self._save()

    def _those_here(self, rows: torch.Tensor) -> torch.Tensor:
        """Of rows for all learners those for the learners of this process."""
        m = learners.count(self.spec.learners)
        if self.m == m:
            return rows
        return rows.view(-1, m, *rows.shape[1:])[:, list(self.team.here)].flatten(0, 1)

    def _time_to_save(self) -> bool:
        return bool(self.team.agreed(torch.tensor(float(self.resume.due()))))

    def _descend(self, optimizer: CompiledOptimizer, orders: torch.Tensor) -> None:
        """All minibatches by the kernel, one member after another."""
        spec = self.spec
        assert self.compiled is not None
        for row, member in enumerate(self.members):
            self.compiled.descend(
                optimizer,
                row,
                self.images.draw_of(member),
                orders[row],
                self.minibatches.step,
                self.streams,
                self._learning_rate(),
                spec.penalty if penalty.acts(spec.penalty, self.done_epochs) else None,
                self._record_of(member),
            )
        optimizer.steps += len(self.minibatches)

    def _step(self, optimizer: Optimizer, chosen: torch.Tensor) -> None:
        """One minibatch, every learner its part of it."""
        spec, parameters = self.spec, self._parameters()
        rows = [member for member in self.members for _ in range(self.m)]
        m = learners.count(spec.learners)
        shared = chosen.shape[1] // m * m
        chosen = self._those_here(chosen[:, :shared].reshape(len(chosen) * m, -1))
        gradients = self._gradient(parameters, rows, chosen)
        if penalty.acts(spec.penalty, self.done_epochs):
            penalty.add_gradient(spec.penalty, parameters, gradients)
        self.team.mix(optimizer.parameters, gradients)
        optimizer.step(gradients, self._learning_rate())
        if spec.average and self.done_epochs >= spec.average.from_epoch:
            self.average.add(self._moving())

    def _gradient(
        self, parameters: Parameters, rows: list[int], chosen: torch.Tensor
    ) -> Parameters:
        """Of each row's mean loss over its chosen images; `rows` are the rows' members."""
        if self.compiled:
            draws = [self.images.draw_of(member) for member in rows]
            return self.compiled.gradient(parameters, draws, chosen, self.streams)
        inputs, labels = self.images.minibatch(rows, chosen)
        masks = self.streams.masks(self.net, chosen.shape[1], self.device)
        bfloat16 = self.spec.precision == "bfloat16"
        return gradient(self.net, parameters, inputs, labels, masks, bfloat16)

    def _learning_rate(self) -> float:
        return self.spec.optimizer.lr * factor(
            self.spec.schedule, self.done_epochs, self.spec.stop.epochs
        )

    def _minibatches(self) -> range:
        """Where in the shuffled images each step begins; the last may have fewer images.

        Images that are too few for every learner to get one are left out.
        """
        count, batch, m = self.images.count, self.spec.batch, learners.count(self.spec.learners)
        if count < m:
            raise FlatlasError(
                f"{m} learners can't share {count} images: learners.count may be {count} at most."
            )
        size = count // m if batch == "full" else batch
        return range(0, count - m + 1, size * m)

    def _parameters(self) -> Parameters:
        """All weights that gradients are taken at, a row a learner."""
        return self._whole(self.optimizer.parameters, learners.spread(self.frozen, self.m))

    def _iterate(self) -> Parameters:
        """The optimizer's solution, the mean over learners where there are any."""
        return self._whole(self._moving(), self.frozen)

    def _moving(self) -> Parameters:
        """What of the iterate is not frozen."""
        return self.team.mean(self.optimizer.solution())

    def _whole(self, moving: Parameters, frozen: Parameters) -> Parameters:
        """Both in the net's order: sums go through the weights one by one."""
        both = {**moving, **frozen}
        return {name: both[name] for name in self.net.shapes}

    def _solution(self) -> Parameters:
        """What counts as the solution now: the iterate, or the average of iterates."""
        if not self.average.steps:
            return self._iterate()
        return self._whole(self.average.mean, self.frozen)

    def _rescale(self, rescaling: Rescaling) -> None:
        """The α-scaling, in place, of each member whose time for it has come.

        One that meets the rule at the end of this very epoch is not yet known to, so `after` counts
        whole epochs of further training.
        """
        for row, member in enumerate(self.members):
            met = self.outcomes[member].met_epoch
            if met and self.done_epochs == met + rescaling.after:
                mine = slice(row * self.m, (row + 1) * self.m)
                here = {name: value[mine] for name, value in self.optimizer.parameters.items()}
                scaled = rescaled(self.net, here, rescaling.layer, rescaling.factor)
                for name, value in scaled.items():
                    here[name].copy_(value)

    def _look(self, solution: Parameters) -> list[Evaluation]:
        """Evaluate the solution, write it into the history, keep it where it is a checkpoint."""
        evaluations = self._agreed(self._evaluate(solution))
        norms = penalty.weight_norms(solution).tolist()
        for row, (member, evaluation) in enumerate(zip(self.members, evaluations, strict=True)):
            values = astuple(evaluation)
            self.history.append((self.done_epochs, self.spec.seeds[member], *values, norms[row]))
            if self.done_epochs in self.spec.checkpoints:
                self._keep(checkpoint(self.done_epochs), row, solution)
        return evaluations

    def _evaluate(self, solution: Parameters) -> list[Evaluation]:
        if self.compiled:
            draws = [self.images.draw_of(member) for member in self.members]
            return self.compiled.evaluate(solution, draws)
        return evaluate(self.net, solution, self.images, self.members)

    def _agreed(self, evaluations: list[Evaluation]) -> list[Evaluation]:
        """Those by which every process lets the same members end."""
        values = torch.tensor([astuple(one) for one in evaluations], dtype=torch.float64)
        return [Evaluation(*row) for row in self.team.agreed(values).tolist()]

    def _judge(self, evaluations: list[Evaluation]) -> None:
        """Let the stopping rule look at each member; those that have ended leave the stack."""
        solution = self._solution()
        staying = []
        for row, (member, evaluation) in enumerate(zip(self.members, evaluations, strict=True)):
            outcome = self.outcomes[member]
            outcome.judge(self.spec.stop, self.done_epochs, evaluation)
            beyond = self.done_epochs - outcome.met_epoch
            if outcome.met_epoch and beyond in self.spec.overtraining:
                self._keep(overtrained(beyond), row, solution)
            if outcome.ended:
                self._keep(FINAL, row, solution)
                if self.average.steps:
                    self._keep(f"{FINAL}.last", row, self._iterate())
            else:
                staying.append(row)
        if len(staying) < len(self.members):
            self._shrink(staying)

    def _keep(self, moment: str, row: int, solution: Parameters) -> None:
        member = self.members[row]
        one = {name: value[row : row + 1] for name, value in solution.items()}
        weights = {name: value[0] for name, value in one.items()}
        statistics = batch_statistics(self.net, one, self.images, member)
        self.keepsakes.keep(moment, member, {**weights, **statistics})
        if self.spec.learners and not moment.endswith(".last"):
            m = self.spec.learners.count
            mine = slice(row * m, (row + 1) * m)
            every = self.team.every(self._parameters())
            each = {name: value[mine] for name, value in every.items()}
            self.keepsakes.keep(f"{moment}.learners", member, each)

    def _shrink(self, rows: list[int]) -> None:
        """Go on with these rows."""
        inner = [row * self.m + learner for row in rows for learner in range(self.m)]
        self.optimizer.keep(torch.tensor(inner, dtype=torch.long, device=self.device))
        self.average.keep(torch.tensor(rows, dtype=torch.long, device=self.device))
        self.frozen = {name: value[rows] for name, value in self.frozen.items()}
        self.streams.keep(rows, self.m)
        self.members = [self.members[row] for row in rows]

    def _trajectory(self) -> Trajectory | None:
        if self.spec.snapshots is None:
            return None
        layer = self.net.layer(self.spec.snapshots)
        weights = prod(layer.shapes[f"{layer.name}.weight"])
        steps = len(self.minibatches) * self.spec.stop.extra_epochs
        shape = (len(self.members), steps, weights)
        return Trajectory(self.resume.folder / "trajectory.npy", shape)

    def _record_snapshots(self, step: int) -> None:
        if self.trajectory is None:
            return
        weights = self._iterate()[f"{self.spec.snapshots}.weight"]
        for row, member in enumerate(self.members):
            met = self.outcomes[member].met_epoch
            if met:
                position = (self.done_epochs - met - 1) * len(self.minibatches) + step
                self.trajectory.record(member, position, weights[row])

    def _record_of(self, member: int) -> tuple[str, np.ndarray] | None:
        """The layer to record in this epoch, and where; None where there is nothing to record."""
        met = self.outcomes[member].met_epoch
        if self.trajectory is None or not met:
            return None
        assert self.spec.snapshots is not None
        steps = len(self.minibatches)
        begin = (self.done_epochs - met - 1) * steps
        return self.spec.snapshots, self.trajectory.array[member, begin : begin + steps]

    def _build_optimizer(self, parameters: Parameters) -> None:
        """The kernel makes whole epochs where it has the step and nothing happens between steps.

        Elsewhere it takes gradients alone.
        """
        spec = self.spec
        self.optimizer: Optimizer | CompiledOptimizer
        rule = None if spec.learners or spec.average else compiled_rule(spec.optimizer)
        if self.compiled and rule:
            layout = self.compiled.layout
            self.optimizer = CompiledOptimizer(rule, layout, parameters, self.frozen)
        else:
            self.optimizer = build_optimizer(spec.optimizer, parameters, self.streams.langevin)

    def _save(self) -> None:
        """Everything that a later process needs to go on as if nothing had happened."""
        if self.trajectory is not None:
            self.trajectory.array.flush()
        arrays = {
            **_prefixed("parameters", self.team.every(self.optimizer.parameters)),
            **_prefixed("optimizer", self._of_every_learner(self.optimizer.state())),
            **_prefixed("average", self.average.state()),
            **_prefixed("streams", self._streams_of_all()),
            **{f"kept/{name}": value for name, value in self.keepsakes.arrays.items()},
            "history": np.array(self.history),
            "times": np.array(self.times),
        }
        facts = {
            "done_epochs": self.done_epochs,
            "members": self.members,
            "averaged_steps": self.average.steps,
            "outcomes": [asdict(outcome) for outcome in self.outcomes],
        }
        if self.team.leads:
            self.resume.save(arrays, facts)

    def _of_every_learner(self, state: Parameters) -> Parameters:
        """An optimizer's rows of all learners, and its counters, which are the same for all."""
        rows = {name: value for name, value in state.items() if value.dim()}
        return {**state, **self.team.every(rows)}

    def _streams_of_all(self) -> Parameters:
        """Members shuffle, learners draw."""
        state = {name: torch.from_numpy(value) for name, value in self.streams.state().items()}
        drawing = {name: value for name, value in state.items() if name not in OF_MEMBERS}
        return {**state, **self.team.every(drawing)}

    def _begin(self) -> None:
        """Look at the fresh weights; nothing stays of an attempt that can't be resumed."""
        if self.team.leads:
            self.resume.forget()
        if self.trajectory is not None:
            self.trajectory.begin()
        evaluations = self._look(self._solution())
        if not self.most_epochs:
            self._judge(evaluations)

    def _restore(self) -> bool:
        """Go on from an interrupted training; False where there is none, or not all of it."""
        found = self.resume.find()
        if found is None or (self.trajectory is not None and not self.trajectory.reopen()):
            return False
        arrays, facts = found
        logger.info("going on after epoch %d", facts["done_epochs"])
        self.done_epochs, self.members = facts["done_epochs"], facts["members"]
        self.outcomes = [Outcome(**outcome) for outcome in facts["outcomes"]]
        self.streams.keep(self.members, self.m)
        streams = {k: torch.from_numpy(v) for k, v in _unprefixed("streams", arrays).items()}
        self.streams.restore(
            {k: (v if k in OF_MEMBERS else self._those_here(v)).numpy() for k, v in streams.items()}
        )
        self.frozen = {name: value[self.members] for name, value in self.frozen.items()}
        parameters = self._saved("parameters", arrays)
        self._build_optimizer({k: self._those_here(v) for k, v in parameters.items()})
        state = self._tensors("optimizer", arrays)
        self.optimizer.restore({k: self._those_here(v) if v.dim() else v for k, v in state.items()})
        self.average.steps = facts["averaged_steps"]
        self.average.mean = self._saved("average", arrays)
        self.keepsakes.arrays = _unprefixed("kept", arrays)
        self.history = [tuple(row) for row in arrays["history"].tolist()]
        self.times = arrays["times"].tolist()
        return True

    def _saved(self, prefix: str, arrays: dict[str, np.ndarray]) -> Parameters:
        """In the net's order, not the file's: noise and sums go through them one by one."""
        found = self._tensors(prefix, arrays)
        return {name: found[name] for name in self.net.shapes if name in found}

    def _tensors(self, prefix: str, arrays: dict[str, np.ndarray]) -> Parameters:
        """Arrays as tensors; counters (of no dimension) stay where torch.optim wants them."""
        tensors = {k: torch.from_numpy(v) for k, v in _unprefixed(prefix, arrays).items()}
        return {name: t.to(self.device) if t.dim() else t for name, t in tensors.items()}

    def told(self) -> dict[str, Any]:
        """Facts for the progress line."""
        latest = [row[2] for row in self.history[-max(len(self.members), 1) :]]
        ended = sum(outcome.ended for outcome in self.outcomes)
        return {
            "epoch": self.done_epochs,
            "loss": f"{np.mean(latest):.2e}",
            "ended": f"{ended}/{len(self.outcomes)}",
        }

    def trained(self) -> Trained:
        """The results, once every member has ended."""
        for epoch in self.spec.checkpoints:
            for member, outcome in enumerate(self.outcomes):
                if outcome.epoch < epoch:
                    for part in ("", ".learners"):
                        self.keepsakes.fill(checkpoint(epoch) + part, member, FINAL + part)
        columns = ["epoch", "seed", *Evaluation.__dataclass_fields__, "weight_norm"]
        history = pd.DataFrame(self.history, columns=columns)
        history = history.astype({"epoch": int, "seed": int})
        outcomes = pd.DataFrame(
            [asdict(one) | {"converged": one.converged} for one in self.outcomes]
        )
        times = pd.DataFrame({"epoch": range(1, len(self.times) + 1), "seconds": self.times})
        return Trained(self.keepsakes.arrays, history, outcomes, times, self.trajectory)


def _prefixed(prefix: str, tensors: Parameters) -> dict[str, np.ndarray]:
    return {
        f"{prefix}/{name}": value.detach().cpu().contiguous().numpy()
        for name, value in tensors.items()
    }


def _unprefixed(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        name.removeprefix(prefix + "/"): value
        for name, value in arrays.items()
        if name.startswith(prefix + "/")
    }
