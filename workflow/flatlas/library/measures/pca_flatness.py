"""How wide the valley is along the principal directions of a trajectory (Feng & Tu 2021)."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import e
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PositiveInt

from flatlas.flatness.slices import principal
from flatlas.flatness.valley import Valley, valley
from flatlas.library.checkpoint import Checkpoint, trajectory_of
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem
from flatlas.plan.bounds import Positive

# A standard deviation along a direction below this share of the weights is the round-off of
# checkpoints in float32.
ROUND_OFF = 1e-7


@dataclass(frozen=True)
class PcaFlatness:
    """The `valleys` along unit vectors, and the `variances` of the trajectory along them."""

    directions: np.ndarray
    variances: np.ndarray
    valleys: list[Valley]
    tolerance: float

    def quantities(self) -> Mapping[str, Quantity]:
        """The flatness and the variance of each direction, by rank."""
        found = {
            f"flatness_{rank}": Quantity(one.flatness, self.tolerance * one.flatness, one.converged)
            for rank, one in enumerate(self.valleys, start=1)
        }
        spread = enumerate(self.variances, start=1)
        return found | {f"variance_{rank}": Quantity(float(one)) for rank, one in spread}


def measure(
    problem: Problem,
    *,
    trajectory: list[Checkpoint],
    top: PositiveInt = 2,
    factor: Annotated[float, Field(gt=1)] = e,
    tolerance: Positive = 1e-3,
) -> PcaFlatness:
    """The flatness along the `top` principal directions of a `trajectory`.

    The trajectory is a list of models or state dictionaries. The flatness is the distance between
    the two ends at which the loss is first `factor` times (by default e) that of the model, found
    to a relative `tolerance`.
    Directions in which the trajectory does not move are left out, because they are arbitrary.
    """
    objective = problem.training
    points = trajectory_of(trajectory, objective, top)
    directions = principal(objective, points, top).directions
    variances = ((points - points.mean(0)) @ directions.T).square().mean(0)
    moves = variances.sqrt() > ROUND_OFF * points.norm(dim=1).max()
    # The first direction always counts: the points differ, however little.
    moves[0] = True
    directions = directions[moves]
    return PcaFlatness(
        directions=directions.cpu().numpy(),
        variances=variances[moves].cpu().numpy(),
        valleys=[valley(objective, one, factor, tolerance) for one in directions],
        tolerance=tolerance,
    )


def check(problem: Problem, *, trajectory: list[Checkpoint], top: int, **_: Any) -> None:
    """Raise an error if the trajectory is too short, or that of another model."""
    trajectory_of(trajectory, problem.training, top)
