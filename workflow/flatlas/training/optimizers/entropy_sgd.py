"""Entropy-SGD (Chaudhari et al. 2017): descent on the local entropy, by Langevin steps."""

from math import sqrt

import numpy as np
import torch
from torch import Tensor

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import EntropySgd
from flatlas.training.noise import Noise
from flatlas.training.rule import Rule


def build(spec: EntropySgd, parameters: Parameters, noise: list[Noise]) -> "EntropySgdOptimizer":
    """The optimizer of a spec."""
    return EntropySgdOptimizer(spec, parameters, noise)


def rule(spec: EntropySgd) -> Rule:
    """The same step in the compiled kernel."""
    numbers = (spec.gamma, spec.inner_lr, spec.noise, spec.averaging, spec.langevin_steps)
    return Rule("entropy_sgd", numbers, slots=("outer", "mean"), solution="outer", noisy=True)


class EntropySgdOptimizer:
    """Every minibatch makes one Langevin step of x' around the outer weights x::

        x' <- x' - inner_lr (gradient(x') + gamma (x' - x)) + sqrt(inner_lr) noise N(0, 1)
        mu <- averaging mu + (1 - averaging) x'

    After `langevin_steps` such steps comes one outer step, x <- x - lr (x - mu), and x' and mu
    start again at x. The solution is x. As in the authors' program, lr includes the factor gamma of
    the outer gradient gamma (x - mu).
    """

    def __init__(self, spec: EntropySgd, parameters: Parameters, noise: list[Noise]) -> None:
        """`parameters` become x', where gradients are taken; x and mu start as copies of it."""
        self.spec = spec
        self.noise = noise
        self.parameters = parameters
        self.outer = _copy(parameters)
        self.mean = _copy(parameters)
        self.inner_steps = 0

    def step(self, gradients: Parameters, lr: float) -> None:
        """One Langevin step and, after the last of a round, the outer step."""
        spec, normal = self.spec, self._normal()
        for name, inner in self.parameters.items():
            pull = gradients[name] + spec.gamma * (inner - self.outer[name])
            inner -= spec.inner_lr * pull
            inner += sqrt(spec.inner_lr) * spec.noise * normal[name]
            self.mean[name].lerp_(inner, 1 - spec.averaging)
        self.inner_steps += 1
        if self.inner_steps == spec.langevin_steps:
            self._outer_step(lr)

    def _outer_step(self, lr: float) -> None:
        for name, outer in self.outer.items():
            outer -= lr * (outer - self.mean[name])
            self.parameters[name].copy_(outer)
            self.mean[name].copy_(outer)
        self.inner_steps = 0

    def _normal(self) -> Parameters:
        """Noise for each row from its own stream, so that rows do not depend on each other."""
        sizes = [value[0].numel() for value in self.parameters.values()]
        rows = np.stack([noise.draw(sum(sizes)) for noise in self.noise])
        parts = torch.from_numpy(rows).split(sizes, dim=1)
        return {
            name: part.reshape(value.shape).to(value)
            for (name, value), part in zip(self.parameters.items(), parts, strict=True)
        }

    def solution(self) -> Parameters:
        """The outer weights x."""
        return self.outer

    def state(self) -> dict[str, Tensor]:
        """x, mu and the position in the round."""
        outer = {f"{name}/outer": value for name, value in self.outer.items()}
        mean = {f"{name}/mean": value for name, value in self.mean.items()}
        return {**outer, **mean, "inner_steps": torch.tensor(self.inner_steps)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Restore a state."""
        self.inner_steps = int(state["inner_steps"])
        self.outer = {name: state[f"{name}/outer"] for name in self.outer}
        self.mean = {name: state[f"{name}/mean"] for name in self.mean}

    def keep(self, rows: Tensor) -> None:
        """Keep only these rows of the stack."""
        self.parameters, self.outer, self.mean = (
            {name: value[rows] for name, value in stack.items()}
            for stack in (self.parameters, self.outer, self.mean)
        )
        self.noise = [self.noise[row] for row in rows.tolist()]


def _copy(parameters: Parameters) -> Parameters:
    return {name: value.clone() for name, value in parameters.items()}
