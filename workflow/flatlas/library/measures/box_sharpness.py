"""The sharpness within a box (Keskar et al. 2016): the largest rise of the loss, in percent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import PositiveInt
from torch import Tensor

from flatlas.flatness.box import (
    SEARCHES,
    TOLERANCE,
    Ascent,
    Box,
    BoxSharpness,
    by_minibatches,
    corners,
    sharpness_of,
)
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem
from flatlas.models.objective import Objective
from flatlas.models.parts import Parts
from flatlas.plan.bounds import Positive


@dataclass(frozen=True)
class Sharpness(BoxSharpness):
    """100 (max L(w + Δw) − L(w)) / (1 + L(w)) with |Δw_i| ≤ ε (|w_i| + 1), a lower bound.

    `missed` is how much larger the value is at the corner to which the slope at w points. It is 0
    for the search from corner to corner, which begins there.
    """

    missed: float = 0.0

    def quantities(self) -> Mapping[str, Quantity]:
        """The sharpness, its first-order part, which depends only on the gradient, and the rest."""
        error = max(self.residual * self.sharpness, self.missed)
        return {
            "sharpness": Quantity(self.sharpness, error, self.converged),
            "first_order": Quantity(self.first_order),
            "rest": Quantity(self.rest, error, self.converged),
        }


def measure(
    problem: Problem,
    *,
    by: Literal["corners", "lbfgs", "sgd"] = "corners",
    box: Positive = 1e-3,
    lr: Positive = 1e-3,
    epochs: PositiveInt = 100,
) -> Sharpness:
    """The largest rise of the loss with |Δw_i| ≤ `box` (|w_i| + 1), in percent of 1 + L(w).

    `by` is the search: from corner to corner, by L-BFGS-B or by SGD. The first two take at most
    `epochs` steps. SGD takes `epochs` passes over the batches with learning rate `lr`. The error is
    the larger of two: what the last tenth of the search added, and what the result lacks of the
    value at the corner that the slope at w points to.
    """
    objective = problem.training

    def of_members(points: Tensor, members: Tensor) -> tuple[Tensor, Tensor]:
        values, slopes = zip(*map(objective.value_and_gradient, points), strict=True)
        return torch.stack(values), torch.stack(slopes)

    around = Box.around(objective.w.unsqueeze(0), box, of_members, objective.size)
    curves = _sgd(around, objective, lr, epochs) if by == "sgd" else SEARCHES[by](around, epochs)
    (found,) = sharpness_of(around, curves)
    missed = 0.0
    if by != "corners":
        (corner,) = sharpness_of(around, corners(around, 1))
        missed = max(0.0, corner.sharpness - found.sharpness)
    converged = found.converged and missed <= TOLERANCE * found.sharpness
    return Sharpness(**{**vars(found), "converged": converged}, missed=missed)


def _sgd(box: Box, objective: Objective, lr: float, epochs: int) -> list[list[float]]:
    """L after each epoch of minibatch ascent."""
    parts = Parts(objective)

    def slope(part: Objective, w: Tensor) -> Tensor:
        return part.value_and_gradient(w[0])[1].unsqueeze(0)

    climb = Ascent(slope, box.w, box.side)
    return by_minibatches(
        box, climb, lambda w: objective.value(w[0]).view(1), lambda: parts, lr, epochs
    )
