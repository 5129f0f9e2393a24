"""The losses f of random minibatches, each a draw from the post's process f(θ)."""

from torch import Tensor

from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.measures.solution import Solution


def minibatch_loss(solution: Solution, drawn: Tensor) -> MeanLoss:
    """The losses f of minibatches (members, batch), one for each member of a stack."""
    return on_minibatches(MeanLoss(solution.net, solution.inputs, solution.labels), drawn)


def on_minibatches(loss: MeanLoss, drawn: Tensor) -> MeanLoss:
    """The same, from the images of a loss that all members share."""
    return MeanLoss(loss.net, loss.inputs[0, drawn], loss.labels[0, drawn])


def stacked(solution: Solution, members: int) -> Tensor:
    """θ, once for each member (members, size)."""
    return flattened(solution.net, solution.parameters).expand(members, -1)
