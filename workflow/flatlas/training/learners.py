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
    """The team in one process: all learners of a training, or none."""

    leads = True

    def __init__(self, learners: Learners | None) -> None:
        """Without `learners`, each member has one row."""
        self.learners, self.m = learners, learners.count if learners else 1
        self.here: Sequence[int] = range(self.m)

    def mix(self, parameters: Parameters, gradients: Parameters) -> None:
        """Mix the learners' weights or gradients, in place, before a step.

        SSGD: all learners have the same weights and step with the mean of their gradients. DPSGD:
        each learner steps with the gradient at its own weights, but from a mean of weights: those
        of both neighbours on a `ring`, also its own with `neighbourhood`, those of all with `full`.
        """
        if self.learners is None:
            return
        stack = gradients if self.learners.kind == "ssgd" else parameters
        for value in stack.values():
            each = self._by_learner(value)
            if self.learners.kind == "ssgd" or self.learners.mixing == "full":
                each.copy_(each.mean(1, keepdim=True).expand_as(each))
            else:
                both = each.roll(1, 1) + each.roll(-1, 1)
                each.copy_(mean_of_neighbours(self.learners, both, each))

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


def mean_of_neighbours(learners: Learners, both: Tensor, own: Tensor) -> Tensor:
    """The mean of a learner's neighbours, with its own weights too unless they mix on a `ring`.

    `both` is the sum over the two neighbours.
    """
    return both / 2 if learners.mixing == "ring" else (both + own) / 3


def spread(parameters: Parameters, m: int) -> Parameters:
    """The weights of every member, repeated for each of its m learners."""
    if m == 1:
        return parameters
    return {name: value.repeat_interleave(m, 0) for name, value in parameters.items()}
