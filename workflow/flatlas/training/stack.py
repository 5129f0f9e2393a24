"""The members still in training: their weights and the state of their optimizer."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.nets.rescaling import rescaled
from flatlas.plan.training_specs import Rescaling, RunSpec
from flatlas.training import learners
from flatlas.training.averaging import RunningMean
from flatlas.training.compiled import Compiled
from flatlas.training.learners import Team
from flatlas.training.optimizers import Optimizer, build_optimizer, compiled_rule
from flatlas.training.optimizers.compiled import CompiledOptimizer
from flatlas.training.resume import section
from flatlas.training.start import initial_weights, layer_of, starts
from flatlas.training.streams import OF_MEMBERS, Streams


class Stack:
    """One row of weights per member, times the `m` learners in this process.

    `members` has the realization's number for each member. A member that ends leaves the stack; the
    others do not change, because each has its own random streams. `frozen` has the weights that no
    step moves, one row per member; the optimizer has the others.
    """

    optimizer: Optimizer | CompiledOptimizer

    def __init__(
        self,
        spec: RunSpec,
        net: LayeredNet,
        team: Team,
        compiled: Compiled | None,
        device: str,
        start: Mapping[str, np.ndarray] | None,
    ) -> None:
        """Start with all members and their initial weights."""
        self.spec, self.net, self.team = spec, net, team
        self.compiled, self.device = compiled, device
        self.m = len(team.here)
        self.members = list(range(len(spec.seeds)))
        self.done_epochs = 0
        self.streams = Streams(spec.seeds, team.here, starts(spec))
        self.average = RunningMean()
        weights = {
            name: value.to(device) for name, value in initial_weights(spec, net, start).items()
        }
        frozen = [name for name in weights if layer_of(name) in (spec.frozen or ())]
        self.frozen = {name: weights.pop(name) for name in frozen}
        self._build_optimizer(learners.spread(weights, self.m))

    def _build_optimizer(self, parameters: Parameters) -> None:
        """Build the optimizer: the kernel's if it has the rule and nothing happens between steps.

        The kernel then runs whole epochs; otherwise it only computes gradients.
        """
        spec = self.spec
        rule = None if spec.learners or spec.average else compiled_rule(spec.optimizer)
        if self.compiled and rule:
            layout = self.compiled.layout
            self.optimizer = CompiledOptimizer(rule, layout, parameters, self.frozen)
        else:
            self.optimizer = build_optimizer(spec.optimizer, parameters, self.streams.langevin)

    def parameters(self) -> Parameters:
        """All weights at which gradients are taken, one row per learner."""
        return self._whole(self.optimizer.parameters, learners.spread(self.frozen, self.m))

    def iterate(self) -> Parameters:
        """The optimizer's solution, the mean over learners if there are any."""
        return self._whole(self._moving(), self.frozen)

    def solution(self) -> Parameters:
        """The current solution: the iterate, or the average of iterates."""
        if not self.average.steps:
            return self.iterate()
        iterate = self.optimizer.parameters
        mean = {name: w.to(iterate[name].dtype) for name, w in self.average.mean.items()}
        return self._whole(mean, self.frozen)

    def add_to_average(self) -> None:
        """Average the iterate with those before it."""
        self.average.add(self._moving())

    def _moving(self) -> Parameters:
        """The part of the iterate that is not frozen."""
        return self.team.mean(self.optimizer.solution())

    def _whole(self, moving: Parameters, frozen: Parameters) -> Parameters:
        """Frozen and other weights in the net's order, since sums depend on the order."""
        both = {**moving, **frozen}
        return {name: both[name] for name in self.net.shapes}

    def learners_of(self, row: int) -> Parameters:
        """The weights of all learners of one member, including those in other processes."""
        m = self.spec.learner_count
        stack = self.team.all_learners(self.parameters())
        return {name: value[row * m : (row + 1) * m] for name, value in stack.items()}

    def of_learners_here(self, rows: torch.Tensor) -> torch.Tensor:
        """The rows of the learners in this process, from the rows of all learners."""
        m = self.spec.learner_count
        if self.m == m:
            return rows
        return rows.view(-1, m, *rows.shape[1:])[:, list(self.team.here)].flatten(0, 1)

    def rescale(self, row: int, rescaling: Rescaling) -> None:
        """Apply the α-scaling to one member, in place."""
        mine = slice(row * self.m, (row + 1) * self.m)
        here = {name: value[mine] for name, value in self.optimizer.parameters.items()}
        scaled = rescaled(self.net, here, rescaling.layer, rescaling.factor)
        for name, value in scaled.items():
            here[name].copy_(value)

    def keep(self, rows: Sequence[int]) -> None:
        """Keep only these rows."""
        inner = [row * self.m + learner for row in rows for learner in range(self.m)]
        self.optimizer.keep(torch.tensor(inner, dtype=torch.long, device=self.device))
        self.average.keep(torch.tensor(rows, dtype=torch.long, device=self.device))
        self.frozen = {name: value[list(rows)] for name, value in self.frozen.items()}
        self.streams.keep(rows, self.m)
        self.members = [self.members[row] for row in rows]

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that a later process resumes from; every process of a team must call this."""
        return {
            **_prefixed("parameters", self.team.all_learners(self.optimizer.parameters)),
            **_prefixed("optimizer", self._of_every_learner(self.optimizer.state())),
            **_prefixed("average", self.average.mean),
            **_prefixed("streams", self._streams_of_all()),
        }

    def facts(self) -> dict[str, Any]:
        """The numbers that belong to the arrays."""
        return {
            "done_epochs": self.done_epochs,
            "members": self.members,
            "averaged_steps": self.average.steps,
        }

    def restore(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        """Continue from saved arrays and facts."""
        self.done_epochs, self.members = facts["done_epochs"], facts["members"]
        self.streams.keep(self.members, self.m)
        streams = {k: torch.from_numpy(v) for k, v in section("streams", arrays).items()}
        self.streams.restore(
            {
                k: (v if k in OF_MEMBERS else self.of_learners_here(v)).numpy()
                for k, v in streams.items()
            }
        )
        self.frozen = {name: value[self.members] for name, value in self.frozen.items()}
        parameters = self._saved("parameters", arrays)
        self._build_optimizer({k: self.of_learners_here(v) for k, v in parameters.items()})
        state = self._tensors("optimizer", arrays)
        self.optimizer.restore(
            {k: self.of_learners_here(v) if v.dim() else v for k, v in state.items()}
        )
        self.average.steps = facts["averaged_steps"]
        self.average.mean = self._saved("average", arrays)

    def _of_every_learner(self, state: Parameters) -> Parameters:
        """An optimizer's state: the rows of all learners, and its counters, which are shared."""
        rows = {name: value for name, value in state.items() if value.dim()}
        return {**state, **self.team.all_learners(rows)}

    def _streams_of_all(self) -> Parameters:
        """The state of all random streams: shuffling by member, the others by learner."""
        state = {name: torch.from_numpy(value) for name, value in self.streams.state().items()}
        drawing = {name: value for name, value in state.items() if name not in OF_MEMBERS}
        return {**state, **self.team.all_learners(drawing)}

    def _saved(self, prefix: str, arrays: Mapping[str, np.ndarray]) -> Parameters:
        """Saved arrays in the net's order, not the file's: noise and sums depend on the order."""
        found = self._tensors(prefix, arrays)
        return {name: found[name] for name in self.net.shapes if name in found}

    def _tensors(self, prefix: str, arrays: Mapping[str, np.ndarray]) -> Parameters:
        """Arrays as tensors; counters (without dimensions) stay on the CPU for torch.optim."""
        tensors = {k: torch.from_numpy(v) for k, v in section(prefix, arrays).items()}
        return {name: t.to(self.device) if t.dim() else t for name, t in tensors.items()}


def _prefixed(prefix: str, tensors: Parameters) -> dict[str, np.ndarray]:
    return {
        f"{prefix}/{name}": value.detach().cpu().contiguous().numpy()
        for name, value in tensors.items()
    }
