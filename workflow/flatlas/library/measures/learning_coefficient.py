"""The local learning coefficient (Lau et al. 2023), by chains around the model's weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Annotated, Any

import torch
from pydantic import Field, PositiveInt

from flatlas.errors import FlatlasError
from flatlas.flatness import learning_coefficient as flatness
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem
from flatlas.models.objective import Objective
from flatlas.models.parts import Parts
from flatlas.plan.bounds import AtLeastTwo, Positive
from flatlas.plan.measurements.flatness import LearningCoefficient as Declared

# The workflow's defaults.
DECLARED = Declared(measure="learning_coefficient")


@dataclass(frozen=True)
class LearningCoefficient(flatness.LearningCoefficient):
    """The coefficient with the traces of its chains and a verdict on their health."""

    def quantities(self) -> Mapping[str, Quantity]:
        """The coefficient, and how healthy its chains are."""
        return {
            "coefficient": Quantity.of(self.coefficient, self.converged),
            "r_hat": Quantity(self.r_hat),
            "drift": Quantity.of(self.drift),
            "accepted": Quantity(self.accepted),
            "minibatch_bias": Quantity(self.minibatch_bias),
        }


def measure(
    problem: Problem,
    *,
    # R-hat compares at least two chains.
    chains: AtLeastTwo = DECLARED.chains,
    steps: Annotated[int, Field(ge=4)] = DECLARED.steps,
    burn_in: PositiveInt = DECLARED.burn_in,
    localization: Positive = DECLARED.localization,
    beta: Positive | None = None,
    step_size: Positive | None = None,
    leaps: PositiveInt = DECLARED.leaps,
    minibatches: bool = False,
) -> LearningCoefficient:
    """The local learning coefficient of n examples, from `chains` that begin at the model.

    `beta` is β, by default 1/log n, and `localization` is γ: a direction with curvature h counts as
    ½ nβh / (nβh + γ). Each chain takes `burn_in` steps, which do not count, and then `steps`. A
    step takes `leaps` passes over the data, or over a single batch with `minibatches`, whose noise
    biases the coefficient. With several leaps chains mix in fewer steps. Without a `step_size`,
    each chain adapts its own during the burn-in.
    """
    objective = problem.training
    batches = Parts(objective) if minibatches else None
    found = flatness.learning_coefficient(
        objective,
        flatness.Posterior(_scale(objective, beta), localization),
        flatness.Run(chains, steps, burn_in, step_size, leaps),
        problem.generator("learning_coefficient"),
        batches,
    )
    return LearningCoefficient(**vars(found))


def check(problem: Problem, *, beta: float | None, **_: Any) -> None:
    """Raise an error if β is needed, or so large that the loss's round-off decides steps."""
    _scale(problem.training, beta)


def _scale(objective: Objective, beta: float | None) -> float:
    """nβ, or β for a loss that is a sum."""
    examples = sum(batch.examples for batch in objective.batches)
    if beta is None and examples < 2:
        raise FlatlasError("learning_coefficient: β = 1/log n needs two examples. Give beta.")
    beta = beta or 1 / log(examples)
    scale = beta if objective.loss.is_sum else examples * beta
    round_off = scale * torch.finfo(objective.dtype).eps * objective.value(objective.w).abs().item()
    if round_off > 1:
        raise FlatlasError(
            f"learning_coefficient: nβ times the round-off of the loss is {round_off:.2g} in "
            f"{objective.dtype}; above 1, round-off decides the steps. Take a smaller beta."
        )
    return scale
