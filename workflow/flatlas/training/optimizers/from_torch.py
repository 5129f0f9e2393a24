"""Any elementwise optimizer of torch.optim, for a stack that can lose rows."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from flatlas.nets.layers import Parameters

# The end of the place of a Python number in a state.
NUMBER = ":number"


class FromTorch:
    """Wraps a torch optimizer; each step gets its learning rate, so schedules stay outside."""

    def __init__(
        self, parameters: Parameters, kind: type[torch.optim.Optimizer], **options: Any
    ) -> None:
        """Take steps like a torch optimizer of this `kind`, with these options."""
        self.parameters = parameters
        self.inner = kind(list(parameters.values()), **options)

    def step(self, gradients: Parameters, lr: float) -> None:
        """One step."""
        for name, parameter in self.parameters.items():
            parameter.grad = gradients[name]
        self.inner.param_groups[0]["lr"] = lr
        self.inner.step()

    def solution(self) -> Parameters:
        """The parameters themselves."""
        return self.parameters

    def state(self) -> dict[str, Tensor]:
        """torch's own state by parameter; Python numbers are marked, because they stay numbers."""
        found = {}
        for name, parameter in self.parameters.items():
            for key, value in self.inner.state.get(parameter, {}).items():
                if isinstance(value, int | float):
                    found[f"{name}/{key}{NUMBER}"] = torch.from_numpy(np.asarray(value))
                elif value is not None:
                    found[f"{name}/{key}"] = value
        return found

    def restore(self, state: dict[str, Tensor]) -> None:
        """Restore a state."""
        for place, value in state.items():
            # The names of parameters may have slashes.
            name, _, key = place.removesuffix(NUMBER).rpartition("/")
            mine = self.inner.state[self.parameters[name]]
            mine[key] = value.item() if place.endswith(NUMBER) else value

    def keep(self, rows: Tensor) -> None:
        """Replace every tensor by its rows, in torch's state too."""
        kept = {name: parameter[rows] for name, parameter in self.parameters.items()}
        for old, new in zip(self.parameters.values(), kept.values(), strict=True):
            state = self.inner.state.pop(old, {})
            if state:
                self.inner.state[new] = {
                    key: value[rows] if isinstance(value, Tensor) and value.dim() else value
                    for key, value in state.items()
                }
        self.inner.param_groups[0]["params"] = list(kept.values())
        self.parameters = kept
