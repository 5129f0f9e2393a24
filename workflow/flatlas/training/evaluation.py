"""Losses and errors of the members over all their images."""

from typing import NamedTuple

import torch
from torch import Tensor

from flatlas.nets.dense_gradient import dense_activities
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.nets.loss import predictions, sample_losses
from flatlas.training.images import StackedImages

# Images at a time: convolutions of more images no longer fit into a CPU's caches.
CONVOLVED, DENSE = 256, 4096


class Evaluation(NamedTuple):
    """Means over the clean training images, and over the test images, of one member."""

    train_loss: float
    train_error: float
    test_loss: float
    test_error: float


@torch.inference_mode()
def evaluate(
    net: LayeredNet, parameters: Parameters, images: StackedImages, members: list[int]
) -> list[Evaluation]:
    """One evaluation for each member, computed in turn, without copying images."""
    evaluations = []
    for row, member in enumerate(members):
        one = {name: value[row : row + 1] for name, value in parameters.items()}
        draw = images.draw_of(member)
        seen = net.seeing(batch_statistics(net, one, images, member))
        train = _means(seen, one, images.inputs[draw], images.labels[draw], images.clean[draw])
        test = _means(seen, one, images.test_inputs[draw], images.test_labels[draw])
        evaluations.append(Evaluation(*train, *test))
    return evaluations


def batch_statistics(
    net: LayeredNet, one: Parameters, images: StackedImages, member: int
) -> Parameters:
    """The batch-norm statistics of a member over its clean training images."""
    draw = images.draw_of(member)
    return net.statistics(one, images.inputs[draw], images.clean[draw])


def _logits(net: LayeredNet, one: Parameters, inputs: Tensor) -> Tensor:
    if net.only_dense:
        return dense_activities(net, one, inputs, masks={})[-1]
    return net.forward(one, net.laid_out(inputs))


def _means(
    net: LayeredNet, one: Parameters, inputs: Tensor, labels: Tensor, counts: Tensor | None = None
) -> tuple[float, float]:
    """Mean loss and mean error, over all images or over those marked in `counts`."""
    losses, errors = [], []
    size = DENSE if net.only_dense else CONVOLVED
    for begin in range(0, len(inputs), size):
        block = slice(begin, begin + size)
        logits = _logits(net, one, inputs[block].unsqueeze(0))
        losses.append(sample_losses(logits, labels[block].unsqueeze(0))[0])
        errors.append(predictions(logits)[0] != labels[block])
    loss, error = torch.cat(losses), torch.cat(errors)
    if counts is not None:
        loss, error = loss[counts], error[counts]
    # The mean is in float64, because a stopping rule compares it with a threshold such as 5e-4.
    return float(loss.double().mean()), float(error.double().mean())
