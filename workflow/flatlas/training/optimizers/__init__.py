"""The optimizers, one module each, found by the name that the spec gives.

All of them act elementwise, so they serve a stack of members (and learners) as they are.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Protocol

import torch
from torch import Tensor

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import OptimizerSpec
from flatlas.training.rule import Rule


class Optimizer(Protocol):
    """What the trainer asks of an optimizer. `step` changes the parameters in place."""

    parameters: Parameters

    def step(self, gradients: Parameters, lr: float) -> None:
        """One step with the gradients of one minibatch, at this learning rate."""

    def solution(self) -> Parameters:
        """The weights that stand for the solution, which may not be those stepped on."""

    def state(self) -> dict[str, Tensor]:
        """All that a later process needs to go on as if nothing had happened."""

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from a state."""

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows of the stack only."""


def build_optimizer(
    spec: OptimizerSpec, parameters: Parameters, generators: list[torch.Generator]
) -> Optimizer:
    """The optimizer of a spec; `generators` (one a row of the stack) feed those that need noise."""
    optimizer: Optimizer = _module(spec).build(spec, parameters, generators)
    return optimizer


def compiled_rule(spec: OptimizerSpec) -> Rule | None:
    """How the compiled kernel makes the steps of a spec; None where it has no such step."""
    rule: Callable[[OptimizerSpec], Rule] | None = getattr(_module(spec), "rule", None)
    return rule(spec) if rule else None


def _module(spec: OptimizerSpec) -> ModuleType:
    return import_module(f"flatlas.training.optimizers.{spec.name}")
