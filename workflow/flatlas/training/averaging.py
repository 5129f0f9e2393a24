"""Iterate averaging, on top of any optimizer."""

from torch import Tensor

from flatlas.nets.layers import Parameters


class RunningMean:
    """The mean of the weights after every step so far, updated in place."""

    def __init__(self) -> None:
        """Start with nothing averaged."""
        self.steps = 0
        self.mean: Parameters = {}

    def add(self, parameters: Parameters) -> None:
        """Add one iterate to the mean."""
        self.steps += 1
        if self.steps == 1:
            self.mean = {name: value.clone() for name, value in parameters.items()}
        for name, value in parameters.items():
            self.mean[name].lerp_(value, 1 / self.steps)

    def keep(self, rows: Tensor) -> None:
        """Keep only these rows of the stack."""
        self.mean = {name: value[rows] for name, value in self.mean.items()}
