"""Several learners in one training: SSGD (Eq. 14) and DPSGD (Eq. 15 of the duality paper).

Learners are the inner part of the stack's leading axis: row = member * m + learner, with m learners
in this process.
"""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Learners


class Team(Protocol):
    """The learners of a training: all in this process, or one in each of several processes.

    `here` has the numbers of the learners in this process; `leads` says whether it writes files.
    """

    here: Sequence[int]
    leads: bool

    def mix(self, parameters: Parameters, gradients: Parameters) -> None:
        """Mix the learners' weights or gradients, in place, before a step."""

    def mean(self, parameters: Parameters) -> Parameters:
        """W_a, the mean over each member's learners (Eq. 13)."""

    def all_learners(self, stack: Parameters) -> Parameters:
        """The rows of all learners, from a stack with the rows of the learners here."""

    def from_leader(self, values: Tensor) -> Tensor:
        """The leader's numbers: all processes continue from the same ones, to the last bit."""


class Together:
    """All learners in this process, if a training has any."""

    leads = True

    def __init__(self, learners: Learners | None) -> None:
        """The learners of a spec."""
        self.learners, self.m = learners, count(learners)
        self.here: Sequence[int] = range(self.m)

    def mix(self, parameters: Parameters, gradients: Parameters) -> None:
        """Mix the learners' weights or gradients, in place, before a step.

        SSGD: all learners have the same weights, and the mean of their gradients moves them
        together. DPSGD: each learner keeps its own gradient, taken at its own weights, but steps
        from a mean of weights: of its neighbours, (W_{j-1} + W_{j+1})/2, on a ring; otherwise of
        its neighbours and itself, or of all learners.
        """
        if self.learners is None:
            return
        stack = gradients if self.learners.kind == "ssgd" else parameters
        for value in stack.values():
            each = self._by_learner(value)
            if self.learners.kind == "ssgd" or self.learners.mixing == "full":
                each.copy_(each.mean(1, keepdim=True).expand_as(each))
            else:
                neighbours = each.roll(1, 1) + each.roll(-1, 1)
                each.copy_(
                    neighbours / 2 if self.learners.mixing == "ring" else (neighbours + each) / 3
                )

    def mean(self, parameters: Parameters) -> Parameters:
        """W_a, the mean over each member's learners (Eq. 13)."""
        if self.m == 1:
            return parameters
        return {name: self._by_learner(value).mean(1) for name, value in parameters.items()}

    def all_learners(self, stack: Parameters) -> Parameters:
        """The same rows: all learners are here."""
        return stack

    def from_leader(self, values: Tensor) -> Tensor:
        """The same numbers: there is one process."""
        return values

    def _by_learner(self, value: Tensor) -> Tensor:
        return value.view(-1, self.m, *value.shape[1:])


def count(learners: Learners | None) -> int:
    """m; 1 if a training has no learners."""
    return learners.count if learners else 1


def spread(parameters: Parameters, m: int) -> Parameters:
    """The weights of every member, repeated for each of its m learners."""
    if m == 1:
        return parameters
    return {name: value.repeat_interleave(m, 0) for name, value in parameters.items()}
