"""The least value of a loss inside an ε-ball, by projected descent."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

# A search has converged when the slope where it is promises no more than this share of ε ‖g‖, what
# the slope at the centre promises. Where the loss is convex the value is off by no more than that.
# At a kink of a ReLU, where a slope ends, a smaller share may never be met.
TOLERANCE = 1e-4
# Steps at most, accepted or not.
STEPS = 500
# What a value may be off by round-off, relative to it.
ROUND_OFF = 1e-15

ValueAndGradient = Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Least:
    """Of each member: the place in the ball, relative to its centre, and the value there."""

    place: Tensor
    value: Tensor
    residual: Tensor
    iterations: Tensor
    converged: Tensor


def least_in_ball(of: ValueAndGradient, centre: Tensor, radius: float) -> Least:
    """Descent of each member (members, size) from the centre, projected back at each step.

    A step is taken if the loss is no more than its own parabola promises, and its length then
    doubles; else it is halved. Where the loss is not convex, what is found is a minimum, not
    always the least one.
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
    """How far the loss would fall to its least place in the ball, if the slope went on."""
    return (g * place).sum(1) + radius * g.norm(dim=1)


def _norm(vectors: Tensor) -> Tensor:
    return vectors.norm(dim=1, keepdim=True).clamp_min(torch.finfo(vectors.dtype).tiny)
