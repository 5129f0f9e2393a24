"""The sharpness of a solution within a box, after Keskar et al. (2016): Definition 2.1 and Eq. 8.

With the loss L on S and |Δw_i| ≤ ε (|w_i| + 1) it is 100 (max L(w + Δw) − L(w)) / (1 + L(w)).
Ascent searches for the largest loss, so the result is a lower bound. While the gradient is not
zero, part of the rise is not curvature: to first order it is Σ |g_i| ε (|w_i| + 1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from pandas import DataFrame
from scipy.optimize import Bounds, OptimizeResult, minimize
from torch import Tensor

from flatlas.hessian.loss import (
    MeanLoss,
    flattened,
    value_and_gradient,
    without_dark_pixels,
)
from flatlas.measures.clean import on_clean
from flatlas.measures.dense_ascent import DenseAscent
from flatlas.measures.solution import Solution
from flatlas.seeds import stream

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
# Members that climb together: for a small net their data stays in a core's cache.
AT_ONCE = 8


@dataclass(frozen=True)
class Box:
    """The box around each w of a stack (members, size): Δw = u · `side` with |u_i| ≤ 1.

    `value` and `slope` are L and ∇L at w. `weights` is the number of weights of the net; w has only
    those with a slope.
    """

    w: Tensor
    side: Tensor
    loss: MeanLoss
    value: Tensor
    slope: Tensor
    weights: int

    @classmethod
    def around(cls, w: Tensor, share: float, loss: MeanLoss, weights: int) -> "Box":
        """The box with `share` ε."""
        return cls(w, share * (w.abs() + 1), loss, *value_and_gradient(loss, w), weights)


def measure_stack(
    solutions: Sequence[Solution], options: Mapping[str, Any]
) -> list[dict[str, DataFrame]]:
    """`summary` is one row; `ascent` has the loss on S at w + Δw after each epoch of the ascent.

    The solutions belong to one realization and share S. `sharpness` is that of the best point seen,
    `last` that of the last one; `rest` is `sharpness` without its first-order part. An iteration of
    L-BFGS-B, which sees all images, is also called an epoch.
    """
    some = on_clean(solutions[0])
    w = torch.cat([flattened(one.net, one.parameters) for one in solutions])
    return tables_of(MeanLoss(some.net, some.inputs, some.labels), w, options, some.seed)


def tables_of(
    loss: MeanLoss, w: Tensor, options: Mapping[str, Any], seed: int
) -> list[dict[str, DataFrame]]:
    """The same for any loss and weights (members, size); each member may have its own images."""
    weights = w.shape[-1]
    loss, w = without_dark_pixels(loss, w)
    tables = []
    for members in torch.arange(len(w), device=w.device).split(AT_ONCE):
        box = Box.around(w[members], options["box"], loss.of_members(members), weights)
        ascents = ASCENTS[options["by"]](box, options, seed)
        tables += [
            _tables(curve, g, reach, options["box"])
            for curve, g, reach in zip(ascents, box.slope, box.side, strict=True)
        ]
    return tables


def sgd(box: Box, options: Mapping[str, Any], seed: int) -> list[list[float]]:
    """L of each member after each epoch of minibatch ascent, put back into the box at each step.

    All members draw the same minibatches, whichever members are in the stack.
    """
    images = box.loss.labels.shape[1]
    random = torch.Generator().manual_seed(stream(seed, "sharpness"))
    climb = (DenseAscent if box.loss.net.only_dense else Ascent)(box.loss, box.w, box.side)
    values = [box.value]
    for _ in range(options["epochs"]):
        order = torch.randperm(images, generator=random).to(box.w.device)
        for drawn in order.split(options["batch"]):
            climb.step(drawn, options["lr"])
        values.append(box.loss(box.w + climb.displacements))
    curves: list[list[float]] = torch.stack(values, dim=1).tolist()
    return curves


class Ascent:
    """Minibatch ascent of the loss of any net; Δw are its `displacements` (members, size)."""

    def __init__(self, loss: MeanLoss, w: Tensor, side: Tensor) -> None:
        """The box is |Δw| ≤ `side`."""
        self._loss, self._w, self._side = loss, w, side
        self.displacements = torch.zeros_like(w)

    def step(self, drawn: Tensor, lr: float) -> None:
        """Go up the slope of the mean loss of some images, and back into the box."""
        _, slope = value_and_gradient(self._loss.of(drawn), self._w + self.displacements)
        self.displacements.add_(slope, alpha=lr).clamp_(-self._side, self._side)


def lbfgs(box: Box, options: Mapping[str, Any], seed: int) -> list[list[float]]:
    """L of each member after each iteration of L-BFGS-B, which Keskar et al. use."""
    members = torch.arange(len(box.w), device=box.w.device).split(1)
    each = zip(box.w, box.side, members, box.value, box.slope, strict=True)
    return [
        _lbfgs_alone(
            Box(w, side, box.loss.of_members(one), value, slope, box.weights), options["epochs"]
        )
        for w, side, one, value, slope in each
    ]


def _lbfgs_alone(box: Box, epochs: int) -> list[float]:
    """L of one member after each iteration, from a box rescaled to [-1, 1] and a steep loss.

    L-BFGS-B takes its first step length from the slope. It finds no better one where the loss is
    convex, because it needs downward curvature. Without rescaling, its steps would be too short.
    """
    origin = box.value.item()
    slope = (box.slope * box.side).abs().sum().item() / box.weights / STEEP
    curve = [origin]

    def descent(u: np.ndarray) -> tuple[float, np.ndarray]:
        w = box.w + torch.as_tensor(u, device=box.w.device) * box.side
        value, uphill = value_and_gradient(box.loss, w)
        downhill = -(uphill * box.side).cpu().numpy()
        return (origin - value.item()) / slope, downhill / slope

    def keep(intermediate_result: OptimizeResult) -> None:
        curve.append(origin - intermediate_result.fun * slope)

    if slope:
        found = minimize(
            descent,
            np.zeros(len(box.w)),
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


def corners(box: Box, options: Mapping[str, Any], seed: int) -> list[list[float]]:
    """L of each member at a sequence of corners of the box, each where the last slope points.

    This is not the paper's ascent but the conditional gradient of Frank and Wolfe with full steps,
    which never goes down where L is convex. It ends at a corner that the slope there points to, and
    lists that value once more.
    """
    curves = [[value] for value in box.value.tolist()]
    going, loss = torch.arange(len(box.w), device=box.w.device), box.loss
    at, slope = box.w, box.slope
    for _ in range(options["epochs"]):
        corner = box.w[going] + box.side[going] * slope.sign()
        moved = (corner != at).any(1)
        for member in going[~moved].tolist():
            curves[member].append(curves[member][-1])
        if not moved.any():
            break
        if not moved.all():
            going, corner, loss = going[moved], corner[moved], loss.of_members(moved)
        at = corner
        values, slope = value_and_gradient(loss, at)
        for member, value in zip(going.tolist(), values.tolist(), strict=True):
            curves[member].append(value)
    return curves


ASCENTS = {"sgd": sgd, "lbfgs": lbfgs, "corners": corners}


def _tables(curve: list[float], g: Tensor, side: Tensor, box: float) -> dict[str, DataFrame]:
    """Both tables of one member, from its ascent and the gradient at w."""
    values = np.array(curve)
    origin, unit = values[0], PERCENT / (1 + values[0])
    rise = values.max() - origin
    # Minibatches make the loss fluctuate, so the best value counts, compared with the end.
    tenth = max(1, len(values) // 10)
    earlier, end = values[: max(1, len(values) - tenth)].max(), np.median(values[-tenth:])
    residual = (values.max() - min(earlier, end)) / rise if rise > 0 else 0.0
    first_order = unit * (g.abs() @ side).item()
    summary = {
        "sharpness": unit * rise,
        "last": unit * (values[-1] - origin),
        "first_order": first_order,
        "rest": unit * rise - first_order,
        "gradient_norm": g.norm().item(),
        "loss": origin,
        "box": box,
        "residual": residual,
        "iterations": len(values) - 1,
        "converged": bool(residual <= TOLERANCE),
    }
    ascent = {"epoch_of_ascent": np.arange(len(values)), "value": values}
    return {"summary": DataFrame([summary]), "ascent": DataFrame(ascent)}
