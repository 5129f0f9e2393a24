"""The mean loss on S of a solution, as the measures of `flatness` take it."""

import torch
from torch import Tensor

from flatlas.hessian.loss import MeanLoss, flattened, value_and_gradient, without_dark_pixels
from flatlas.measures.clean import on_clean
from flatlas.measures.solution import Solution


class TrainingLoss:
    """L(w) and ∇L(w) on S; w has all weights and biases except those of pixels that are always 0.

    The loss does not depend on the weights of those pixels.
    """

    def __init__(self, solution: Solution) -> None:
        """Leave out the images whose label was changed: they are not in S."""
        some = on_clean(solution)
        loss = MeanLoss(some.net, some.inputs, some.labels)
        self._loss, w = without_dark_pixels(loss, flattened(some.net, some.parameters))
        self.w = w.squeeze(0)

    @property
    def images(self) -> int:
        """The number of images in S."""
        return self._loss.labels.shape[1]

    def value(self, w: Tensor) -> Tensor:
        """L(w)."""
        return self._loss(w)

    def value_and_gradient(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """L(w) and ∇L(w), also within `torch.no_grad`."""
        with torch.enable_grad():
            return value_and_gradient(self._loss, w)
