"""The post's picture of the ε-ball, in the plane through θ spanned by two minibatch gradients."""

from collections.abc import Mapping
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.flatness.ball import least_in_ball
from flatlas.hessian.loss import MeanLoss, flattened, value_and_gradient
from flatlas.measures.clean import on_clean
from flatlas.measures.minibatches import minibatches
from flatlas.measures.solution import Solution
from flatlas.measures.tables import table_of

# The picture's half side, in units of ε, and the points along it.
REACH, POINTS = 1.25, 51


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`surface` has f₁ and f₂ at the points (x, y) of the plane; `stars` their two minima.

    x and y are in units of ε, x along g₁. A star is the minimum of f₁ or f₂ in the ball within the
    plane; `x_formula` and `y_formula` are where the gradient alone predicts it.
    """
    solution = on_clean(solution)
    drawn = minibatches(solution, "regret slice", (2, options["batch"]))
    loss = MeanLoss(solution.net, solution.inputs, solution.labels).on_minibatches(drawn)
    w = flattened(solution.net, solution.parameters).expand(2, -1)
    gradients = value_and_gradient(loss, w)[1]
    # The rows of the basis, x along g₁.
    basis, r = torch.linalg.qr(gradients.T)
    basis = (basis * r.diagonal().sign()).T

    def on_plane(place: Tensor) -> tuple[Tensor, Tensor]:
        value, g = value_and_gradient(loss, w + place @ basis)
        return value, g @ basis.T

    epsilon = options["radius"]
    least = least_in_ball(on_plane, torch.zeros_like(gradients[:, :2]), epsilon)
    straight = -(gradients @ basis.T) / gradients.norm(dim=1, keepdim=True)
    both = torch.stack([_on(loss, at, w) for at in least.place @ basis])
    columns = {
        **_coordinates(least.place / epsilon, "x", "y"),
        **_coordinates(straight, "x_formula", "y_formula"),
        **_coordinates(both, "f1", "f2"),
        "residual": least.residual,
        "iterations": least.iterations,
        "converged": least.converged,
    }
    stars = table_of(columns)
    stars = stars.assign(of=["f1", "f2"], epsilon=epsilon)
    return {"surface": _surface(loss, w, epsilon * basis), "stars": stars}


def _surface(loss: MeanLoss, w: Tensor, basis: Tensor) -> DataFrame:
    """Both losses at all points of the picture."""
    side = torch.linspace(-REACH, REACH, POINTS, dtype=w.dtype, device=w.device)
    points = torch.cartesian_prod(side, side)
    values = torch.stack([_on(loss, shift, w) for shift in points @ basis])
    columns = {**_coordinates(points, "x", "y"), **_coordinates(values, "f1", "f2")}
    return table_of(columns)


def _on(loss: MeanLoss, shift: Tensor, w: Tensor) -> Tensor:
    """f₁ and f₂ at the same place."""
    with torch.no_grad():
        return loss(w + shift)


def _coordinates(values: Tensor, *names: str) -> dict[str, Tensor]:
    return dict(zip(names, values.unbind(1), strict=True))
