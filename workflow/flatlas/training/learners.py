"""Several learners in one training: SSGD (Eq. 14) and DPSGD (Eq. 15 of the duality paper).

Learners are the inner half of the stack's leading axis: row = member * m + learner, with the m of
them that this process has.
"""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Learners

ALONE = 1


class Team(Protocol):
    """Where the learners of a training are: all of them in this process, or one each in many.

    `here` are the numbers of those that this process has, and `leads` whether it is the one that
    writes.
    """

    here: Sequence[int]
    leads: bool

    def mix(self, parameters: Parameters, gradients: Parameters) -> None:
        """Bring the learners together, in place, before a step."""

    def mean(self, parameters: Parameters) -> Parameters:
        """W_a, the mean over each member's learners (Eq. 13)."""

    def every(self, stack: Parameters) -> Parameters:
        """The rows of all learners, of a stack that has those of the ones here."""

    def agreed(self, values: Tensor) -> Tensor:
        """What the leader says: all go on from the same numbers, to the last bit."""


class Together:
    """All learners in this process, where there are any."""

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
        """They are all here."""
        return stack

    def agreed(self, values: Tensor) -> Tensor:
        """There is nobody to disagree."""
        return values


def count(learners: Learners | None) -> int:
    """m; one where a training has no learners."""
    return learners.count if learners else ALONE


def spread(parameters: Parameters, m: int) -> Parameters:
    """Every member's weights given to each of its m learners."""
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

    SSGD: all stand at the mean already, so the mean of their gradients moves them together.
    DPSGD: each keeps its own gradient, taken at its own weights, and starts from the mean of
    its neighbours (W_{j-1} + W_{j+1})/2 on a ring, of these and itself, or of all.
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
