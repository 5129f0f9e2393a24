"""Several learners in one training: SSGD (Eq. 14) and DPSGD (Eq. 15 of the duality paper).

Learners are the inner part of the stack's leading axis: row = member * m + learner, with m learners
in this process.
"""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Learners

ALONE = 1


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

    def every(self, stack: Parameters) -> Parameters:
        """The rows of all learners, from a stack with the rows of the learners here."""

    def agreed(self, values: Tensor) -> Tensor:
        """The leader's numbers: all processes continue from the same ones, to the last bit."""


class Together:
    """All learners in this process, if a training has any."""

    leads = True

    def __init__(self, learners: Learners | None) -> None:
        """The learners of a spec."""
        self.learners = learners
        self.here: Sequence[int] = range(count(learners))

    def mix(self, parameters: Parameters, gradients: Parameters) -> None:
        """Bring the learners together, in place, before a step."""
        if self.learners:
            mix(self.learners, parameters, gradients)

    def mean(self, parameters: Parameters) -> Parameters:
        """The mean over each member's learners."""
        return mean(parameters, len(self.here))

    def every(self, stack: Parameters) -> Parameters:
        """The same rows: all learners are here."""
        return stack

    def agreed(self, values: Tensor) -> Tensor:
        """The same numbers: there is one process."""
        return values


def count(learners: Learners | None) -> int:
    """m; 1 if a training has no learners."""
    return learners.count if learners else ALONE


def spread(parameters: Parameters, m: int) -> Parameters:
    """The weights of every member, repeated for each of its m learners."""
    if m == ALONE:
        return parameters
    return {name: value.repeat_interleave(m, 0) for name, value in parameters.items()}


def mean(parameters: Parameters, m: int) -> Parameters:
    """W_a, the mean over each member's learners (Eq. 13)."""
    if m == ALONE:
        return parameters
    return {name: _by_learner(value, m).mean(1) for name, value in parameters.items()}


def mix(learners: Learners, parameters: Parameters, gradients: Parameters) -> None:
    """Bring the learners together, in place, before a step.

    SSGD: all learners have the same weights, and the mean of their gradients moves them together.
    DPSGD: each learner keeps its own gradient, taken at its own weights, and starts from a mean: of
    its neighbours, (W_{j-1} + W_{j+1})/2 on a ring, of these and itself, or of all.
    """
    m = learners.count
    if learners.kind == "ssgd":
        for value in gradients.values():
            _spread_mean(value, m)
        return
    for value in parameters.values():
        if learners.mixing == "full":
            _spread_mean(value, m)
        else:
            ring = _by_learner(value, m)
            beside = ring.roll(1, 1) + ring.roll(-1, 1)
            ring.copy_(beside / 2 if learners.mixing == "ring" else (beside + ring) / 3)


def _spread_mean(value: Tensor, m: int) -> None:
    by_learner = _by_learner(value, m)
    by_learner.copy_(by_learner.mean(1, keepdim=True).expand_as(by_learner))


def _by_learner(value: Tensor, m: int) -> Tensor:
    return value.view(-1, m, *value.shape[1:])
