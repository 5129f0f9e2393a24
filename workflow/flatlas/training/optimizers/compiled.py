"""Any rule of the compiled kernel, for a stack that can lose rows."""

import torch
from torch import Tensor

from flatlas.nets.layers import Parameters
from flatlas.training.layout import Layout
from flatlas.training.rule import Rule


class CompiledOptimizer:
    """Weights and the slots of a rule, in buffers (row, number) that the kernel changes.

    The stack's parameters are views of them. Frozen weights are there too, because the kernel reads
    them.
    """

    def __init__(
        self, rule: Rule, layout: Layout, parameters: Parameters, frozen: Parameters
    ) -> None:
        """Start with nothing in the slots, or with copies of the weights."""
        self.rule, self.layout, self.names = rule, layout, tuple(parameters)
        self.weights = layout.packed({**parameters, **frozen})
        begin = self.weights if rule.solution else torch.zeros_like(self.weights)
        self.slots = [begin.clone() for _ in rule.slots]
        self.parameters = self._moving(self.weights)
        self.steps = 0

    def _moving(self, buffer: Tensor) -> Parameters:
        views = self.layout.views(buffer)
        return {name: views[name] for name in self.names}

    def solution(self) -> Parameters:
        """The weights of the solution, which may be one of the slots."""
        if self.rule.solution is None:
            return self.parameters
        return self._moving(self.slots[self.rule.slots.index(self.rule.solution)])

    def state(self) -> dict[str, Tensor]:
        """The slots by parameter, and the number of steps taken."""
        found = {
            f"{name}/{slot}": value.contiguous()
            for slot, buffer in zip(self.rule.slots, self.slots, strict=True)
            for name, value in self._moving(buffer).items()
        }
        return {**found, "steps": torch.tensor(self.steps)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Restore a state."""
        self.steps = int(state["steps"])
        for slot, buffer in zip(self.rule.slots, self.slots, strict=True):
            for name, value in self._moving(buffer).items():
                value.copy_(state[f"{name}/{slot}"])

    def keep(self, rows: Tensor) -> None:
        """Keep only these rows of the stack."""
        self.weights = self.weights[rows]
        self.slots = [slot[rows] for slot in self.slots]
        self.parameters = self._moving(self.weights)
