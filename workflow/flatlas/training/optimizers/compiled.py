"""Any rule of the compiled kernel, over a stack whose rows may leave."""

import torch
from torch import Tensor

from flatlas.nets.layers import Parameters
from flatlas.training.layout import Layout
from flatlas.training.rule import Rule


class CompiledOptimizer:
    """Weights and what a rule keeps beside them, in buffers (row, number) that the kernel steps on.

    The stack's parameters are views of them. Frozen weights lie there, too, for the kernel to see.
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
        """The weights that stand for the solution, which may be one of the slots."""
        if self.rule.solution is None:
            return self.parameters
        return self._moving(self.slots[self.rule.slots.index(self.rule.solution)])

    def state(self) -> dict[str, Tensor]:
        """The slots by parameter, and how many steps were made."""
        found = {
            f"{name}/{slot}": value.contiguous()
            for slot, buffer in zip(self.rule.slots, self.slots, strict=True)
            for name, value in self._moving(buffer).items()
        }
        return {**found, "steps": torch.tensor(self.steps)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from a state."""
        self.steps = int(state["steps"])
        for slot, buffer in zip(self.rule.slots, self.slots, strict=True):
            for name, value in self._moving(buffer).items():
                value.copy_(state[f"{name}/{slot}"])

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows of the stack only."""
        self.weights = self.weights[rows]
        self.slots = [slot[rows] for slot in self.slots]
        self.parameters = self._moving(self.weights)
