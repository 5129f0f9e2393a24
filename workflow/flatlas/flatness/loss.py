"""The interface of a loss for measures of flatness."""

from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor


class Slope(Protocol):
    """The mean loss L over all data as a function of weights in one vector, at a solution w.

    All results are float64.
    """

    w: Tensor

    def value(self, w: Tensor) -> Tensor:
        """L(w)."""

    def value_and_gradient(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """L(w) and ∇L(w)."""


class Loss(Slope, Protocol):
    """The same with its curvature; `shapes` are those of the parameters, in their order in w."""

    shapes: Mapping[str, torch.Size]

    @property
    def size(self) -> int:
        """The number of weights in w."""

    def hessian_product(self, vectors: Tensor) -> Tensor:
        """∇∇L v at the solution, for each row v."""
