"""The optimizers, one module each, found by the name in the spec.

All act elementwise, so they work on a stack of members (and learners) unchanged.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Protocol

from torch import Tensor

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import OptimizerSpec
from flatlas.training.noise import Noise
from flatlas.training.rule import Rule

# Maps the gradient at the parameters to the point at which a step takes its gradient.
Ascent = Callable[[Parameters], Parameters]


class Optimizer(Protocol):
    """The interface between trainer and optimizer. `step` changes the parameters in place.

    An optimizer whose steps take the gradient at another point also has an `Ascent` named
    `ascended`. `ascended` gets the same minibatch's gradient at the parameters, without the
    penalty's gradient.
    """

    parameters: Parameters

    def step(self, gradients: Parameters, lr: float) -> None:
        """One step with the gradients of one minibatch, at this learning rate."""

    def solution(self) -> Parameters:
        """The weights of the solution, which may differ from those that steps change."""

    def state(self) -> dict[str, Tensor]:
        """Everything that a later process needs to continue with identical results."""

    def restore(self, state: dict[str, Tensor]) -> None:
        """Restore a state."""

    def keep(self, rows: Tensor) -> None:
        """Keep only these rows of the stack."""


def build_optimizer(spec: OptimizerSpec, parameters: Parameters, noise: list[Noise]) -> Optimizer:
    """The optimizer of a spec; `noise` has one stream for each row of the stack."""
    optimizer: Optimizer = _module(spec).build(spec, parameters, noise)
    return optimizer


def compiled_rule(spec: OptimizerSpec) -> Rule | None:
    """The compiled kernel's rule for the steps of a spec; None if the kernel has none."""
    rule: Callable[[OptimizerSpec], Rule] | None = getattr(_module(spec), "rule", None)
    return rule(spec) if rule else None


def _module(spec: OptimizerSpec) -> ModuleType:
    return import_module(f"flatlas.training.optimizers.{spec.name}")
