"""The sharpness of a solution within a box, after Keskar et al. (2016): Definition 2.1 and Eq. 8.

With |Δw_i| ≤ ε (|w_i| + 1) it is 100 (max L(w + Δw) − L(w)) / (1 + L(w)). An ascent searches for
the largest loss, so the result is a lower bound. While the gradient is not zero, part of the rise
is not curvature: to first order it is Σ |g_i| ε (|w_i| + 1).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from scipy.optimize import Bounds, OptimizeResult, minimize
from torch import Tensor

from flatlas.errors import FlatlasError

# The ascent has converged if the best loss rose by less than this share of its total rise during
# the last tenth of the steps, and the median of those steps is as close to the best. A steady
# ascent still grows by a tenth; the last value alone depends on the last few minibatches.
TOLERANCE = 0.05
# L-BFGS-B continues while a step adds more than this to the rise.
PRECISION = 1e-10
# The mean slope to which L-BFGS-B's loss is rescaled.
STEEP = 1e3
# The paper's factor 100.
PERCENT = 100

# L and ∇L at the points (rows) of some members of a stack, given by their numbers.
OfMembers = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Box:
    """The box around each w of a stack (members, size): Δw = u · `side` with |u_i| ≤ 1.

    `value` and `slope` are L and ∇L at w. `weights` is the number of weights of the net; w has only
    those with a slope.
    """

    w: Tensor
    share: float
    of: OfMembers
    value: Tensor
    slope: Tensor
    weights: int

    @classmethod
    def around(cls, w: Tensor, share: float, of: OfMembers, weights: int) -> "Box":
        """The box with `share` ε."""
        return cls(w, share, of, *of(w, _all(w)), weights)

    @property
    def side(self) -> Tensor:
        """Half of the box's side for each weight."""
        return self.share * (self.w.abs() + 1)

    @property
    def uphill(self) -> Tensor:
        """The slope at w; if it is exactly 0, a direction to try: each weight away from 0."""
        away = torch.where(self.w < 0, -1.0, 1.0).to(self.w)
        return torch.where(self.slope.any(1, keepdim=True), self.slope, away)


@dataclass(frozen=True)
class BoxSharpness:
    """`sharpness` is the value at the best point seen, `last` the value at the last point.

    `rest` is `sharpness` without its first-order part. `residual` is the share of the rise that the
    last tenth of the ascent added.
    """

    sharpness: float
    last: float
    first_order: float
    rest: float
    gradient_norm: float
    loss: float
    box: float
    residual: float
    iterations: int
    converged: bool


def lbfgs(box: Box, epochs: int) -> list[list[float]]:
    """L of each member after each iteration of L-BFGS-B, which Keskar et al. use."""
    return [_lbfgs_alone(box, member, epochs) for member in _all(box.w).split(1)]


def _lbfgs_alone(box: Box, member: Tensor, epochs: int) -> list[float]:
    """L of one member after each iteration, with the box rescaled to [-1, 1] and a steep loss.

    L-BFGS-B takes its first step length from the slope. It finds no better one where the loss is
    convex, because it needs downward curvature. Without rescaling, its steps would be too short.
    Where the slope at w is exactly 0, it begins half-way to a corner.
    """
    w, side = box.w[member], box.side[member]
    origin = box.value[member].item()
    curve, begin, steep = [origin], torch.zeros_like(w), box.slope[member]
    if not steep.any():
        begin = box.uphill[member].sign() / 2
        value, steep = box.of(w + begin * side, member)
        curve.append(value.item())
    slope = (steep * side).abs().sum().item() / box.weights / STEEP

    def descent(u: np.ndarray) -> tuple[float, np.ndarray]:
        value, uphill = box.of(w + torch.as_tensor(u, device=w.device) * side, member)
        downhill = -(uphill * side).squeeze(0).cpu().numpy()
        return (origin - value.item()) / slope, downhill / slope

    def keep(intermediate_result: OptimizeResult) -> None:
        curve.append(origin - intermediate_result.fun * slope)

    if slope:
        found = minimize(
            descent,
            begin.squeeze(0).cpu().numpy(),
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(-1, 1),
            callback=keep,
            options={"maxiter": epochs, "ftol": PRECISION, "gtol": PRECISION},
        )
        if found.success:
            # A converged search would not move in one more step.
            curve.append(curve[-1])
    return curve


def corners(box: Box, epochs: int) -> list[list[float]]:
    """L of each member at a sequence of corners of the box, each where the last slope points.

    This is not the paper's ascent but the conditional gradient of Frank and Wolfe with full steps,
    which never goes down where L is convex. It ends at a corner that the slope there points to, and
    lists that value once more. Where the first slope is exactly 0, it begins at the corner farthest
    from 0.
    """
    curves = [[value] for value in box.value.tolist()]
    going, side = _all(box.w), box.side
    at = box.w
    slope = box.uphill
    for _ in range(epochs):
        corner = box.w[going] + side[going] * slope.sign()
        moved = (corner != at).any(1)
        for member in going[~moved].tolist():
            curves[member].append(curves[member][-1])
        if not moved.any():
            break
        if not moved.all():
            going, corner = going[moved], corner[moved]
        at = corner
        values, slope = box.of(at, going)
        for member, value in zip(going.tolist(), values.tolist(), strict=True):
            curves[member].append(value)
    return curves


class Climb(Protocol):
    """An ascent by minibatches, with its displacements Δw (members, size), at first 0."""

    @property
    def displacements(self) -> Tensor:
        """Δw."""

    def step(self, minibatch: Any, lr: float) -> None:
        """Go up the slope of the mean loss of a minibatch, and back into the box."""


class Ascent:
    """Minibatch ascent by the slopes of any loss."""

    def __init__(self, slope: Callable[[Any, Tensor], Tensor], w: Tensor, side: Tensor) -> None:
        """`slope` is that of a minibatch at weights (members, size); the box is |Δw| ≤ `side`."""
        self._slope, self._w, self._side = slope, w, side
        self.displacements = torch.zeros_like(w)

    def step(self, minibatch: Any, lr: float) -> None:
        """Go up the slope of the mean loss of a minibatch, and back into the box."""
        slope = self._slope(minibatch, self._w + self.displacements)
        self.displacements.add_(slope, alpha=lr).clamp_(-self._side, self._side)


def by_minibatches(
    box: Box,
    climb: Climb,
    loss: Callable[[Tensor], Tensor],
    minibatches: Callable[[], Iterable[Any]],
    lr: float,
    epochs: int,
) -> list[list[float]]:
    """L of each member after each epoch of minibatch ascent, put back into the box at each step.

    A member without a slope never leaves w; its curve has only L at w.
    """
    values = [box.value]
    for _ in range(epochs):
        for minibatch in minibatches():
            climb.step(minibatch, lr)
        with torch.inference_mode():
            values.append(loss(box.w + climb.displacements))
    curves: list[list[float]] = torch.stack(values, dim=1).tolist()
    moved = climb.displacements.any(1).tolist()
    return [curve if left else curve[:1] for curve, left in zip(curves, moved, strict=True)]


SEARCHES = {"lbfgs": lbfgs, "corners": corners}


def sharpness_of(box: Box, curves: list[list[float]]) -> list[BoxSharpness]:
    """The sharpness of each member, from the losses along its ascent."""
    return [
        _sharpness(curve, g, side, box.share)
        for curve, g, side in zip(curves, box.slope, box.side, strict=True)
    ]


def _sharpness(curve: list[float], g: Tensor, side: Tensor, share: float) -> BoxSharpness:
    values = np.array(curve)
    if values[0] <= -1:
        raise FlatlasError(
            f"the loss is {values[0]:.3g}, so the sharpness, a share of 1 + loss, is undefined. "
            "Allowed: a loss above -1; a constant may be added to it."
        )
    origin, unit = values[0], PERCENT / (1 + values[0])
    rise = values.max() - origin
    # Minibatches make the loss fluctuate, so the best value counts, compared with the end.
    tenth = max(1, len(values) // 10)
    earlier, end = values[: max(1, len(values) - tenth)].max(), np.median(values[-tenth:])
    residual = (values.max() - min(earlier, end)) / rise if rise > 0 else 0.0
    first_order = unit * (g.abs() @ side).item()
    # Without a rise a search has failed, unless it moved where there is no slope.
    flat = len(values) > 1 and first_order <= PERCENT * np.finfo(float).eps
    return BoxSharpness(
        sharpness=unit * rise,
        last=unit * (values[-1] - origin),
        first_order=first_order,
        rest=unit * rise - first_order,
        gradient_norm=g.norm().item(),
        loss=origin,
        box=share,
        residual=residual,
        iterations=len(values) - 1,
        converged=bool(np.isfinite(rise) and residual <= TOLERANCE and (rise > 0 or flat)),
    )


def _all(w: Tensor) -> Tensor:
    return torch.arange(len(w), device=w.device)
