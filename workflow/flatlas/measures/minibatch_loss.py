"""The losses f of random minibatches: a draw of them is a draw from the post's process f(θ)."""

import torch
from torch import Tensor

from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.measures.solution import Solution


def minibatch_loss(solution: Solution, drawn: Tensor) -> MeanLoss:
    """f of each minibatch (members, batch), as the loss of one member of a stack each."""
    return MeanLoss(solution.net, solution.inputs[0, drawn], solution.labels[0, drawn])


def stacked(solution: Solution, members: int) -> Tensor:
    """θ, once for each member (members, size)."""
    return flattened(solution.net, solution.parameters).expand(members, -1)


def value_and_gradient(loss: MeanLoss, w: Tensor) -> tuple[Tensor, Tensor]:
    """f and g of each member."""
    leaf = w.detach().clone().requires_grad_()
    values = loss(leaf)
    (g,) = torch.autograd.grad(values.sum(), leaf)
    return values.detach(), g
