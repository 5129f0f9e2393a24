"""Stochastic gradient descent, written out because torch.optim is slow to start.

Most runs use it. torch.optim loads torch's compiler at its first step, which takes longer than
starting torch, and on matrices this small its bookkeeping costs as much as the step.
"""

from torch import Tensor

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Sgd
from flatlas.training.noise import Noise
from flatlas.training.rule import Rule


def build(spec: Sgd, parameters: Parameters, noise: list[Noise]) -> "SgdOptimizer":
    """The optimizer of a spec."""
    return SgdOptimizer(parameters)


def rule(spec: Sgd) -> Rule:
    """The same step in the compiled kernel."""
    return Rule("sgd")


class SgdOptimizer:
    """w <- w - lr * gradient; the weights are the only state."""

    def __init__(self, parameters: Parameters) -> None:
        """Steps change the parameters in place."""
        self.parameters = parameters

    def step(self, gradients: Parameters, lr: float) -> None:
        """One step."""
        for name, parameter in self.parameters.items():
            parameter.add_(gradients[name], alpha=-lr)

    def solution(self) -> Parameters:
        """The parameters themselves."""
        return self.parameters

    def state(self) -> dict[str, Tensor]:
        """An empty state."""
        return {}

    def restore(self, state: dict[str, Tensor]) -> None:
        """There is nothing to restore."""

    def keep(self, rows: Tensor) -> None:
        """Keep only these rows of the stack."""
        self.parameters = {name: value[rows] for name, value in self.parameters.items()}
