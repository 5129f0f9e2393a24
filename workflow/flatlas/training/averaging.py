"""Iterate averaging, on top of any optimizer."""

import torch
from torch import Tensor

from flatlas.nets.layers import Parameters


class RunningMean:
    """The mean of the weights after every step so far, in float64, updated in place.

    In float32 the mean would stop following slow weights: each step changes it by 1 / steps of its
    distance to them, which is soon less than half of the last bit.
    """

    def __init__(self) -> None:
        """Start with nothing averaged."""
        self.steps = 0
        self.mean: Parameters = {}

    def add(self, parameters: Parameters) -> None:
        """Add one iterate to the mean."""
        self.steps += 1
        if self.steps == 1:
            self.mean = {
                name: value.to(torch.float64, copy=True) for name, value in parameters.items()
            }
        for name, value in parameters.items():
            self.mean[name].lerp_(value.double(), 1 / self.steps)

    def keep(self, rows: Tensor) -> None:
        """Keep only these rows of the stack."""
        self.mean = {name: value[rows] for name, value in self.mean.items()}
