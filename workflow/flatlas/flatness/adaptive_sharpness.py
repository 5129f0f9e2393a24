"""How far the loss rises around w: at most, and on average.

Adaptive sharpness (Kwon et al. 2021; Andriushchenko et al. 2023) measures each weight's
displacement in units of the weight, so that rescaling layers of a ReLU network does not change it.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.flatness.ball import Ball, Least, descent
from flatlas.flatness.loss import Slope
from flatlas.hessian.sampled import Sampled, mean

TINY = torch.finfo(torch.float64).tiny


@dataclass(frozen=True)
class Neighbourhood:
    """All w + c ⊙ u with u in the `ball`, where c is |w| if `adaptive`, and otherwise 1."""

    ball: Ball
    adaptive: bool

    def scale(self, w: Tensor) -> Tensor:
        """c."""
        return w.abs() if self.adaptive else torch.ones_like(w)


@dataclass(frozen=True)
class Search:
    """How to search: a search has converged when `left` is at most `tolerance` times the rise.

    It takes at most `steps`, and begins at the centre and at `starts` − 1 random points, at least
    at one if the centre has no slope to follow. Each start may find another local maximum, and the
    best may be twice the first.
    """

    tolerance: float
    steps: int
    starts: int


@dataclass(frozen=True)
class Worst:
    """The largest `rise` of the loss that was found, a lower bound, and its `first_order` value.

    `left` is how much further a linear loss with the slope there would rise; it bounds the error if
    the loss is concave. `residual` is `left` as a share of the rise. `rises` has the rise
    from each start, `iterations` the steps of all. `converged` refers to the largest rise.
    """

    rise: float
    first_order: float
    left: float
    residual: float
    iterations: int
    converged: bool
    rises: np.ndarray
    loss: float

    @property
    def error(self) -> float:
        """How far the second-best start is below the best, or `left` if that is more.

        If the best was found only once, there may be a better one.
        """
        second = np.sort(self.rises)[-2:][0]
        return max(self.left, self.rise - float(second))


def worst(loss: Slope, around: Neighbourhood, search: Search, generator: torch.Generator) -> Worst:
    """The largest rise in the neighbourhood of w, by projected ascent."""
    c = around.scale(loss.w)
    origin, slope = loss.value_and_gradient(loss.w)
    if not origin.isfinite():
        raise FlatlasError(
            f"the loss at the model's weights is {origin.item()}, so its sharpness is undefined. "
            "Give weights at which the loss is finite."
        )

    def negative(u: Tensor) -> tuple[Tensor, Tensor]:
        value, g = loss.value_and_gradient(loss.w + c * u[0])
        return -value.unsqueeze(0), -(c * g).unsqueeze(0)

    def rise(least: Tensor) -> Tensor:
        return (-least - origin).clamp_min(TINY)

    centre = torch.zeros_like(c).unsqueeze(0)
    drawn = max(search.starts - 1, int(not (c * slope).any()))
    starts = [centre, *(around.ball.boundary(centre, generator) for _ in range(drawn))]
    found = [
        descent(negative, centre, around.ball, start, rise, search.tolerance, search.steps)
        for start in starts
    ]
    rises = np.array([-one.value.item() - origin.item() for one in found])
    # A random start may lie where the loss overflows.
    rises[np.isnan(rises)] = -np.inf
    best: Least = found[int(rises.argmax())]
    return Worst(
        rise=max(0.0, rises.max().item()),
        first_order=around.ball.reach((c * slope).unsqueeze(0)).item(),
        left=max(0.0, best.left.item()),
        residual=best.residual.item(),
        iterations=sum(int(one.iterations.item()) for one in found),
        converged=bool(best.converged.item()),
        rises=rises,
        loss=origin.item(),
    )


def mean_rise(
    loss: Slope, around: Neighbourhood, pairs: int, generator: torch.Generator
) -> Sampled:
    """E L(w + c ⊙ u) − L(w) with Gaussian u, whose standard deviation is the ball's radius.

    Each of the `pairs` has u and −u, which cancels the first order.
    """
    c, origin = around.ball.radius * around.scale(loss.w), loss.value(loss.w)
    rises = torch.empty(pairs, dtype=torch.float64)
    for pair in range(pairs):
        drawn = torch.randn(c.shape, generator=generator, dtype=c.dtype, device=c.device)
        shift = c * drawn
        rises[pair] = (loss.value(loss.w + shift) + loss.value(loss.w - shift)) / 2 - origin
    return mean(rises)
