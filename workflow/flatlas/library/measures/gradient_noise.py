"""The noise of minibatch gradients, from the batches as they are given."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import PositiveInt

from flatlas.errors import FlatlasError
from flatlas.flatness import gradient_noise as flatness
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem
from flatlas.models.parts import Parts
from flatlas.plan.bounds import Positive


@dataclass(frozen=True)
class GradientNoise(flatness.GradientNoise):
    """The trace of the noise's covariance, its scale and its share along the Hessian."""

    def quantities(self) -> Mapping[str, Quantity]:
        """The trace and scale for one example, and the share along all the directions."""
        return {
            "trace": Quantity.of(self.trace),
            "scale": Quantity.of(self.scale),
            "share_along_hessian": Quantity.of(self.share, self.converged),
            "gradient_norm": Quantity(self.gradient_norm),
        }


def measure(
    problem: Problem, *, top: PositiveInt = 10, tolerance: Positive = 1e-3
) -> GradientNoise:
    """The noise of single examples' gradients, unbiased if the batches are random.

    The data must have at least two batches; more make the error smaller. Batches of one example
    give the exact value on these data. An example without a label that counts has the gradient 0.
    The share along the Hessian is that along its `top` eigenvectors, whose eigenvalues are found to
    `tolerance` times the largest.
    """
    objective = problem.training
    parts = Parts(objective)
    random = problem.generator("gradient_noise")
    found = flatness.gradient_noise(
        objective, parts, parts.examples, top, tolerance, random, objective.round_off()
    )
    return GradientNoise(**vars(found))


def check(problem: Problem, **_: Any) -> None:
    """Raise an error if the data are one batch."""
    if len([*islice(problem.training.batches, 2)]) < 2:
        raise FlatlasError(
            "gradient_noise: the data are one batch. Give two or more: the noise is estimated from "
            "how much their gradients differ."
        )
