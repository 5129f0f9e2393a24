"""The training loss along directions in a layer's weights, and where it reaches a level.

Along W + θ E only the layer's pre-activations change, linearly: they are z + θ aE. So a direction
costs one product with the activity, and each point on it one pass from the layer to the loss. In a
convolution the product is a convolution with E.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

import torch
from torch import Tensor

from flatlas.measures.solution import Solution
from flatlas.nets.loss import sample_losses

# The most numbers in the arrays aE of a block of directions: 128 MiB.
NUMBERS = 2**24
# The most numbers in a block of images at one point: 1 MiB, the fastest size for the caches.
CACHED = 2**17
# The step of the finite differences for a search's first guess, in units of the layer's |w|.
NEAR = 1e-5
# The largest distance at which an end is searched for, in units of the layer's |w|.
FAR = 1e6
# An end is found when the loss there is this close to the level, relative to it.
TOLERANCE = 1e-7
# After this many steps within a bracket an end counts as not found.
STEPS = 200
EPSILON = torch.finfo(torch.float64).eps
TINY = torch.finfo(torch.float64).tiny

Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Ends:
    """The step along each ray at which the loss reaches a level; NaN if it never does.

    `residual` is the relative difference of the loss there from the level; `iterations` counts
    evaluations of the loss.
    """

    at: Tensor
    residual: Tensor
    iterations: Tensor
    converged: Tensor


def interval(
    solution: Solution,
    layer: str,
    activity: Tensor,
    directions: Tensor,
    factor: float,
) -> tuple[Ends, Ends]:
    """How far each direction goes, backward and forward, before the loss grows by `factor`.

    `activity` is the layer's input for all training images. `directions` are unit vectors, each in
    the shape of the layer's weights.
    """
    z = solution.preactivation(layer, activity)
    origin = sample_losses(solution.logits_from(layer, z), solution.labels).mean().item()
    size = solution.parameters[f"{layer}.weight"].norm().item()
    left: list[Ends] = []
    right: list[Ends] = []
    for block in directions.split(max(1, NUMBERS // z.numel())):
        loss = loss_along(solution, layer, activity, block)
        guesses = _parabola(loss, origin, factor, block.new_full((len(block),), NEAR * size))
        for guess, found in zip(guesses, (left, right), strict=True):
            found.append(ends(loss, origin, factor, guess.clamp(-size, size), FAR * size))
    return _joined(left), _joined(right)


def both(left: Ends, right: Ends) -> dict[str, Tensor]:
    """The width of each valley and its ends; residual and iterations are those of the worse end."""
    return {
        "flatness": right.at - left.at,
        "left": left.at,
        "right": right.at,
        "residual": torch.maximum(left.residual, right.residual),
        "iterations": torch.maximum(left.iterations, right.iterations),
        "converged": left.converged & right.converged,
    }


def mirrored(left: Ends, right: Ends) -> tuple[Tensor, Tensor]:
    """Both ends of each valley; a side without an end gets the distance of the other side.

    Along a drift the loss may fall forever on one side. NaN if neither side has an end.
    """
    low, high = left.at, right.at
    return torch.where(low.isnan(), -high, low), torch.where(high.isnan(), -low, high)


def loss_along(solution: Solution, layer: str, activity: Tensor, directions: Tensor) -> Loss:
    """A function of n and θ, for any number of points: the mean training loss at W + θ E_n."""
    z = solution.preactivation(layer, activity)
    change = solution.net.layer(layer).product(activity, directions)
    images = max(1, CACHED // z[0, 0].numel())
    parts = [each.split(images, dim=1) for each in (z, change, solution.labels)]

    def loss(which: Tensor, steps: Tensor) -> Tensor:
        losses = torch.zeros_like(steps)
        for point, (n, step) in enumerate(zip(which.tolist(), steps.tolist(), strict=True)):
            for here, changes, labels in zip(*parts, strict=True):
                logits = solution.logits_from(layer, torch.add(here, changes[n], alpha=step))
                losses[point] += sample_losses(logits, labels).sum()
        return losses / z.shape[1]

    return loss


def ends(loss: Loss, origin: float, factor: float, guess: Tensor, bound: float) -> Ends:
    """Where each ray's loss first reaches `factor` times the loss at the origin.

    `loss(rays, steps)` takes rays by their position in `guess`. For each ray, `guess` has a step of
    about the right size, with the ray's sign. The search starts at half the guess and doubles the
    step, up to `bound`, until the loss is above the level. It misses a rise and fall between two
    such points.
    """
    iterations = torch.zeros_like(guess, dtype=torch.long)

    def excess(rays: Tensor, steps: Tensor) -> Tensor:
        # Losses grow like exponentials, so their logs are nearly straight lines.
        iterations[rays] += 1
        return (loss(rays, steps) / (factor * origin)).clamp_min(TINY).log()

    inner, outer = torch.zeros_like(guess), (guess / 2).clamp(-bound, bound)
    below = torch.full_like(guess, -log(factor))
    above = excess(torch.arange(len(guess), device=guess.device), outer)
    while len(short := ((above < 0) & (outer.abs() < bound)).nonzero().flatten()):
        inner[short], below[short] = outer[short], above[short]
        outer[short] = (2 * outer[short]).clamp(-bound, bound)
        above[short] = excess(short, outer[short])

    at, residual = torch.full_like(guess, torch.nan), torch.full_like(guess, torch.nan)
    rays = (above >= 0).nonzero().flatten()
    points, values = torch.stack([inner, outer])[:, rays], torch.stack([below, above])[:, rays]
    at[rays], residual[rays] = _roots(excess, rays, points, values)
    return Ends(at, residual, iterations, residual <= TOLERANCE)


def _roots(excess: Loss, rays: Tensor, points: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """The root of `excess` between two points of each ray (2, rays), and |eˣ − 1| for its excess x.

    Chandrupatla's method (Adv. Eng. Softw. 28, 1997, p. 145), all rays at once: an inverse parabola
    through three points where that is safe, bisection elsewhere. SciPy's elementwise.find_root
    needs more evaluations of the loss (docs/decisions.md).
    """
    root, residual = torch.empty_like(points[0]), torch.empty_like(points[0])
    places = torch.arange(len(rays), device=rays.device)
    # The newest point, the one across the root from it, and the one dropped last.
    share = values[0] / (values[0] - values[1])
    points, values = points[[0, 1, 1]], values[[0, 1, 1]]
    for _ in range(STEPS):
        x = points[0] + share * (points[1] - points[0])
        f = excess(rays[places], x)
        root[places], residual[places] = x, f.expm1().abs()
        passed = f.sign() != values[0].sign()
        points, values = _replaced(points, x, passed), _replaced(values, f, passed)
        wide = (points[1] - points[0]).abs() > 4 * EPSILON * x.abs()
        unsettled = wide & (f.expm1().abs() > TOLERANCE)
        if not unsettled.any():
            break
        places, points, values = places[unsettled], points[:, unsettled], values[:, unsettled]
        share = _share(points, values)
    return root, residual


def _replaced(rows: Tensor, newest: Tensor, passed: Tensor) -> Tensor:
    """The three points after adding one; `passed` marks where it crossed the root."""
    across = torch.where(passed, rows[0], rows[1])
    given_up = torch.where(passed, rows[1], rows[0])
    return torch.stack([newest, across, given_up])


def _share(points: Tensor, values: Tensor) -> Tensor:
    """The share of the bracket to go from its newest point: by the inverse parabola, or half."""
    (a, b, c), (f, g, h) = points, values
    position, level = (a - b) / (c - b), (f - g) / (h - g)
    behaves = (level**2 < position) & ((1 - level) ** 2 < 1 - position)
    parabola = f / (g - f) * h / (g - h) + (c - a) / (b - a) * f / (h - f) * g / (h - g)
    least = (2 * EPSILON * a.abs() / (b - a).abs()).clamp_max(0.5)
    return torch.where(behaves, parabola, 0.5).clamp(least, 1 - least)


def _parabola(loss: Loss, origin: float, factor: float, near: Tensor) -> tuple[Tensor, Tensor]:
    """Where the parabola through three points of each ray `near` the origin reaches the level.

    The steps are those to the left and to the right; infinite where it never does.
    """
    rays = torch.arange(len(near), device=near.device)
    behind, ahead = loss(rays, -near) - origin, loss(rays, near) - origin
    slope, curvature = (ahead - behind) / (2 * near), (ahead + behind) / near**2
    rise = (factor - 1) * origin
    root = (slope**2 + 2 * rise * curvature.clamp_min(0)).sqrt()
    return -2 * rise / (root - slope), 2 * rise / (root + slope)


def _joined(blocks: Sequence[Ends]) -> Ends:
    return Ends(*map(torch.cat, zip(*(vars(block).values() for block in blocks), strict=True)))
