"""The smallest value of a loss inside an ε-ball, by projected descent."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

# A search has converged when the current slope predicts a further decrease of at most this share of
# ε ‖g‖, the decrease predicted at the centre. For a convex loss this bounds the error of the value.
# At the kink of a ReLU the slope jumps, and a smaller share may never be reached.
TOLERANCE = 1e-4
# The maximum number of steps, accepted or not.
STEPS = 500
# The relative round-off allowed in a value.
ROUND_OFF = 1e-15

ValueAndGradient = Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Least:
    """For each member: the minimum's place relative to the ball's centre, and the value there."""

    place: Tensor
    value: Tensor
    residual: Tensor
    iterations: Tensor
    converged: Tensor


def least_in_ball(of: ValueAndGradient, centre: Tensor, radius: float) -> Least:
    """The minimum that descent finds from the centre (members, size), projected back at each step.

    A step is accepted if the loss is at most what the parabola of that step length predicts. The
    step length then doubles; otherwise it is halved. For a loss that is not convex, the minimum
    found need not be the global one.
    """
    place = torch.zeros_like(centre)
    value, g = of(centre)
    length = radius / _norm(g)
    unit = radius * _norm(g).squeeze(1)
    iterations = torch.zeros(len(centre), dtype=torch.long, device=centre.device)
    left = _left(place, g, radius) / unit
    for _ in range(STEPS):
        going = left > TOLERANCE
        if not going.any():
            break
        tried = projected(place - length * g, radius)
        move = tried - place
        there, slope = of(centre + tried)
        promised = value + (g * move).sum(1) + (move.square() / (2 * length)).sum(1)
        better = (there <= promised + ROUND_OFF * value.abs()) & going
        place, g = (
            torch.where(better.unsqueeze(1), *both) for both in ((tried, place), (slope, g))
        )
        value = torch.where(better, there, value)
        length = length * torch.where(better, 2.0, 0.5).unsqueeze(1)
        iterations += going
        left = _left(place, g, radius) / unit
    return Least(place, value, left, iterations, left <= TOLERANCE)


def projected(place: Tensor, radius: float) -> Tensor:
    """The nearest point of the ball."""
    return place * (radius / _norm(place)).clamp_max(1.0)


def _left(place: Tensor, g: Tensor, radius: float) -> Tensor:
    """How far a linear loss with this slope would fall to its minimum in the ball."""
    return (g * place).sum(1) + radius * g.norm(dim=1)


def _norm(vectors: Tensor) -> Tensor:
    return vectors.norm(dim=1, keepdim=True).clamp_min(torch.finfo(vectors.dtype).tiny)
