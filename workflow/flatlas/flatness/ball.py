"""The smallest value of a loss inside a ball, by projected descent."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

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

Exponent = Literal[2, "infinity"]
ValueAndGradient = Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Ball:
    """All vectors with ‖Δ‖_p ≤ `radius`."""

    radius: float
    p: Exponent = 2

    def nearest(self, place: Tensor) -> Tensor:
        """The nearest point of the ball to each row."""
        if self.p == 2:
            return place * (self.radius / _norm(place)).clamp_max(1.0)
        return place.clamp(-self.radius, self.radius)

    def reach(self, slope: Tensor) -> Tensor:
        """How far a linear function with each row as its slope rises from the centre."""
        return self.radius * slope.norm(p=2 if self.p == 2 else 1, dim=1)

    def boundary(self, like: Tensor, generator: torch.Generator) -> Tensor:
        """A random point on the sphere for each row, or on a corner of the cube."""
        drawn = torch.randn(like.shape, generator=generator, dtype=like.dtype, device=like.device)
        if self.p == 2:
            return self.radius * drawn / _norm(drawn)
        return self.radius * drawn.sign()

    def extent(self, size: int) -> float:
        """The largest Euclidean distance from the centre."""
        return self.radius if self.p == 2 else self.radius * size**0.5


@dataclass(frozen=True)
class Least:
    """For each member: the minimum's place relative to the ball's centre, and the value there.

    `left` is how much further a linear loss with the slope there would fall in the ball; `residual`
    is `left` as a share of the search's unit.
    """

    place: Tensor
    value: Tensor
    left: Tensor
    residual: Tensor
    iterations: Tensor
    converged: Tensor


def least_in_ball(of: ValueAndGradient, centre: Tensor, radius: float) -> Least:
    """The minimum that descent finds in the Euclidean ball from its centre (members, size).

    If the slope at the centre is 0, as at a saddle, the search begins at a random point of the
    sphere. It returns the centre unless it finds a lower loss.
    """
    ball, start = Ball(radius), torch.zeros_like(centre)
    value, slope = of(centre)
    is_still = ~slope.any(1, keepdim=True)
    if is_still.any():
        generator = torch.Generator(centre.device).manual_seed(0)
        start = torch.where(is_still, ball.boundary(centre, generator), start)
        slope = of(centre + start)[1]
    unit = radius * _norm(slope).squeeze(1)
    found = descent(of, centre, ball, start, lambda _: unit, TOLERANCE, STEPS)
    # A loss may be NaN on the sphere.
    is_lowest = is_still.squeeze(1) & ~(found.value < value)
    return replace(
        found,
        place=found.place.masked_fill(is_lowest.unsqueeze(1), 0.0),
        value=torch.where(is_lowest, value, found.value),
        left=found.left.masked_fill(is_lowest, 0.0),
        residual=found.residual.masked_fill(is_lowest, 0.0),
        converged=found.converged | is_lowest,
    )


def descent(
    of: ValueAndGradient,
    centre: Tensor,
    ball: Ball,
    start: Tensor,
    unit: Callable[[Tensor], Tensor],
    tolerance: float,
    steps: int,
) -> Least:
    """The minimum that descent finds from centre + `start`, projected back at each step.

    A step is accepted if the loss is at most what the parabola of that step length predicts. The
    step length then doubles; otherwise it is halved. For a loss that is not convex, the minimum
    found need not be the global one. The search has converged when the slope predicts a further
    fall of at most `tolerance` times the `unit`, a function of the least value so far.
    """
    place = start
    value, g = of(centre + place)
    length = ball.extent(centre.shape[1]) / _norm(g)
    iterations = torch.zeros(len(centre), dtype=torch.long, device=centre.device)
    left = _left(place, g, ball)
    residual = left / unit(value)
    for _ in range(steps):
        going = residual > tolerance
        if not going.any():
            break
        tried = ball.nearest(place - length * g)
        move = tried - place
        there, slope = of(centre + tried)
        predicted = value + (g * move).sum(1) + (move.square() / (2 * length)).sum(1)
        better = (there <= predicted + ROUND_OFF * value.abs()) & going
        place, g = (
            torch.where(better.unsqueeze(1), *both) for both in ((tried, place), (slope, g))
        )
        value = torch.where(better, there, value)
        length = length * torch.where(better, 2.0, 0.5).unsqueeze(1)
        iterations += going
        left = _left(place, g, ball)
        residual = left / unit(value)
    return Least(place, value, left, residual, iterations, residual <= tolerance)


def _left(place: Tensor, g: Tensor, ball: Ball) -> Tensor:
    return (g * place).sum(1) + ball.reach(g)


def _norm(vectors: Tensor) -> Tensor:
    return vectors.norm(dim=1, keepdim=True).clamp_min(torch.finfo(vectors.dtype).tiny)
