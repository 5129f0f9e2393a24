"""`surface`: the loss along a line or in a plane through a model's weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack

import numpy as np
import torch
from pandas import DataFrame
from pydantic import Field
from torch import Tensor, nn
from tqdm import tqdm

from flatlas.errors import FlatlasError, nearest
from flatlas.flatness.slices import Plane, filter_normalized, leading, principal
from flatlas.library.call import accepted
from flatlas.library.checkpoint import Checkpoint, trajectory_of
from flatlas.library.pictures import panels
from flatlas.library.problem import Problem, Settings, opened
from flatlas.models.objective import Objective
from flatlas.plan.bounds import Positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The default reach. It is shorter for eigenvectors: the loss is steep along those of the largest
# eigenvalues.
REACH = {"random": 1.0, "hessian": 0.1}
# The label of an axis, by the kind of its direction.
LABELS = {"random": "random direction", "hessian": "eigenvector", "trajectory": "direction"}
# How far to look beyond a path, relative to its extent.
MARGIN = 0.2
# An extent that is smaller, relative to the largest, is the round-off of a path on a line.
NARROW = 1e-6
# The largest residual of an eigenvector, relative to the spectral norm.
TOLERANCE = 1e-3
# A loss that varies by more than this factor is drawn on a logarithmic scale.
WIDE = 10
LEVELS = 20
# A loss that varies by at most this share is drawn as flat: floating-point numbers are too coarse
# for twenty levels in between.
ROUND_OFF = 1e-13


@dataclass(frozen=True)
class Surface:
    """The `loss` at w + Σ s_i d_i on a grid with these steps s_i along each direction.

    `kind` is the kind of directions: random, hessian or trajectory. Random directions and
    eigenvectors are as long as w: a step of 0.1 is a tenth of the weights. The principal directions
    of a trajectory have length 1. `path` is the projected trajectory, and `shares` are the shares
    of its variance along each direction. `residuals` are |Hv − λv| of eigenvectors of length 1;
    `converged` refers to them.
    """

    kind: str
    steps: list[np.ndarray]
    loss: np.ndarray
    directions: np.ndarray
    path: np.ndarray | None
    shares: np.ndarray | None
    residuals: np.ndarray | None
    converged: bool

    @property
    def table(self) -> DataFrame:
        """A row for each point: its step along each direction, and the loss."""
        points = np.array(list(product(*self.steps)))
        columns = {f"step_{number}": column for number, column in enumerate(points.T, start=1)}
        return DataFrame({**columns, "loss": self.loss.ravel()})

    def plot(self) -> "Figure":
        """A curve, or a map with the path and, as a star, the model."""
        with panels(1, width=3.9) as (figure, (ax,)):
            labels = [self._label(number) for number in range(len(self.steps))]
            if len(self.steps) == 1:
                self._draw_curve(ax)
                ax.set(xlabel=labels[0], ylabel="loss")
            else:
                self._draw_map(figure, ax)
                ax.set(xlabel=labels[0], ylabel=labels[1])
        return figure

    def _draw_curve(self, ax: "Axes") -> None:
        from flatlas.plotting.look import BLUE, GREY, RED

        ax.plot(self.steps[0], self.loss, color=BLUE)
        ax.axvline(0, color=GREY, linestyle=":")
        if self.path is not None:
            along = self.path[:, 0]
            ax.plot(along, np.interp(along, self.steps[0], self.loss), ".", color=RED)

    def _draw_map(self, figure: "Figure", ax: "Axes") -> None:
        from matplotlib.colors import LogNorm

        from flatlas.plotting.look import BLACK, RED

        finite = self.loss[np.isfinite(self.loss)]
        low, high = finite.min(), finite.max()
        around = max(abs(low), abs(high))
        if high - low <= ROUND_OFF * around:
            low, high = low - (around or 1), high + (around or 1)
        wide = low > 0 and high > WIDE * low
        levels = np.geomspace(low, high, LEVELS) if wide else np.linspace(low, high, LEVELS)
        shown = np.ma.masked_invalid(self.loss.T)
        norm = LogNorm(low, high) if wide else None
        filled = ax.contourf(*self.steps, shown, levels=levels, norm=norm, cmap="viridis_r")
        ax.contour(*self.steps, shown, levels=levels, colors="white", linewidths=0.3)
        figure.colorbar(filled, label="loss", format="%.2g", ticks=levels[::3])
        if self.path is not None:
            ax.plot(*self.path.T, color=RED, marker=".", linewidth=1)
        ax.plot(0, 0, color=BLACK, marker="*", markersize=9)

    def _label(self, number: int) -> str:
        share = "" if self.shares is None else f" ({self.shares[number]:.0%} of variance)"
        unit = "" if self.kind == "trajectory" else " ($|w|$)"
        return f"{LABELS[self.kind]} {number + 1}{share}{unit}"


def surface(
    model: nn.Module,
    data: Any,
    directions: str | Sequence[Checkpoint] = "random",
    *,
    dimensions: Literal[1, 2] = 2,
    points: int = 21,
    reach: float | None = None,
    progress: bool = False,
    **settings: Unpack[Settings],
) -> Surface:
    """The loss on a line or a plane through the model's weights w. The model does not change.

    `directions` are "random", with each filter as long as that of the model (Li et al. 2018);
    "hessian", the eigenvectors of its largest eigenvalues; or a trajectory, a list of models or
    state dictionaries, whose principal directions are taken. The grid has `points` along each
    direction, each a pass over the data, from -reach to reach: by default 1 for random directions,
    0.1 for eigenvectors, and as far as a trajectory goes. The settings are those of `measure`.
    """
    dimensions, points, reach = accepted(
        "surface",
        dimensions=(Literal[1, 2], dimensions),
        points=(Annotated[int, Field(ge=3)], points),
        reach=(Positive | None, reach),
    )
    _refuse_unknown(directions)
    with opened(model, data, None, settings) as problem:
        plane = _plane(problem, directions, dimensions)
        if reach is None and isinstance(directions, str):
            reach = REACH[directions]
        steps = [_axis(plane, number, reach, points) for number in range(dimensions)]
        loss = _losses(problem.training, plane, steps, progress)
    if not np.isfinite(loss).any():
        # Without a reach, the middle of the grid is that of the trajectory.
        odd = ", or an odd number of points, which includes the model itself" if reach else ""
        raise FlatlasError(
            f"none of the {loss.size} points of the surface has a finite loss. Take a smaller "
            f"reach{odd}."
        )
    return Surface(
        kind=directions if isinstance(directions, str) else "trajectory",
        steps=steps,
        loss=loss,
        directions=plane.directions.cpu().numpy(),
        path=_numbers(plane.path),
        shares=_numbers(plane.shares),
        residuals=_numbers(plane.residuals),
        converged=plane.converged,
    )


def _refuse_unknown(directions: Any) -> None:
    is_name = isinstance(directions, str)
    if directions in REACH if is_name else isinstance(directions, list | tuple):
        return
    given = f"'{directions}'" if is_name else f"a {type(directions).__name__}"
    raise FlatlasError(
        f"directions are {given}. Allowed: {', '.join(REACH)}, or a list of models or state "
        f"dictionaries.{nearest(given, REACH) if is_name else ''}"
    )


def _numbers(given: Tensor | None) -> np.ndarray | None:
    return None if given is None else given.cpu().numpy()


def _plane(problem: Problem, directions: str | Sequence[Checkpoint], dimensions: int) -> Plane:
    objective, random = problem.training, problem.generator("surface")
    if objective.size < dimensions:
        raise FlatlasError(f"{objective.size} weight has no surface in {dimensions} dimensions.")
    if not isinstance(directions, str):
        return principal(objective, trajectory_of(directions, objective, dimensions), dimensions)
    if directions == "hessian":
        plane = leading(objective, dimensions, TOLERANCE, random, objective.round_off())
    else:
        if all(len(shape) < 2 for shape in objective.shapes.values()):
            raise FlatlasError(
                f"{', '.join(objective.shapes)} have no filters to scale directions with: "
                "choose parameters with a matrix, or directions='hessian'."
            )
        plane = filter_normalized(objective, dimensions, random)
    if not plane.directions.any():
        raise FlatlasError(
            f"directions='{directions}' are as long as the weights that they move, and these are "
            "all 0: train the model first, or give a trajectory."
        )
    return plane


def _losses(
    objective: Objective, plane: Plane, steps: Sequence[np.ndarray], progress: bool
) -> np.ndarray:
    """The loss on the grid of these steps along each direction."""
    every = torch.cartesian_prod(*map(torch.as_tensor, steps)).view(-1, len(steps))
    values = [
        objective.value(objective.w + step.to(objective.w) @ plane.directions).item()
        for step in tqdm(every, disable=not progress, unit="point")
    ]
    return np.array(values).reshape([*map(len, steps)])


def _axis(plane: Plane, number: int, reach: float | None, points: int) -> np.ndarray:
    """The steps along one direction; without a reach, a little beyond the path and w."""
    if reach is not None:
        return np.linspace(-reach, reach, points)
    assert plane.path is not None
    places = torch.cat([plane.path, torch.zeros_like(plane.path[:1])])
    lows, highs = places.amin(0), places.amax(0)
    own, largest = (highs - lows)[number].item(), (highs - lows).max().item()
    beyond = MARGIN * (own if own > NARROW * largest else largest)
    return np.linspace(lows[number].item() - beyond, highs[number].item() + beyond, points)
