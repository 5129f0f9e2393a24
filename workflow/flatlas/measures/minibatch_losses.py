"""The ensemble of mini loss functions L^µ along the principal directions of SGD (§IV, Fig. 3).

The random landscape theory says that L^µ along p_i has the shape exp(M_ii^µ (θ − θ̃_i^µ)² / 2) near
its own minimum (Eq. 9). Here a parabola is fitted to its logarithm.
"""

from collections.abc import Mapping
from math import e
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.measures.landscape import interval
from flatlas.measures.minibatches import minibatches
from flatlas.measures.principal import principal_of
from flatlas.measures.solution import Solution
from flatlas.measures.tables import table_of
from flatlas.nets.loss import sample_losses

# Where L^µ is evaluated, in units of F_i. On MNIST, for the 12 ranks that were tried, all valleys
# end within this reach, except along p_1, where two thirds do. With half the reach, one in ten
# does not end.
UNITS = torch.arange(-40, 41, dtype=torch.float64) / 10
# Minibatches whose profiles are drawn.
SHOWN = 20
TINY = torch.finfo(torch.float64).tiny


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`directions` has a row for each p_i: statistics of the minima θ̃_i^µ of random minibatches µ.

    `minimum` is their mean, `minimum_variance` σ̃_i² and `curvature` the mean M_ii; `product` is
    M_ii² σ̃_i², to which the theory's diffusion constant is proportional (Eq. 14). `found` is the
    share of minibatches with a minimum within reach; the others don't count. `profiles` has L^µ of
    some minibatches for some ranks.
    """
    layer = options["layer"]
    principal = principal_of(solution, layer, options["directions"])
    directions = principal.matrices(solution.net.dense(layer).fans)
    shape = options["minibatches"], options["batch"]
    drawn = minibatches(solution, "minibatch losses", shape)
    steps, losses = _profiles(solution, layer, directions, drawn)
    minimum, curvature, found = parabolas(steps, losses.clamp_min(TINY).log())
    known = found.sum(1)
    mean, mean_curvature = _mean(minimum, found), _mean(curvature, found)
    variance = _mean((minimum - mean.unsqueeze(1)).square(), found) * known / (known - 1)
    columns = {
        "variance": principal.variances,
        "minimum": mean,
        "minimum_variance": variance,
        "curvature": mean_curvature,
        "product": mean_curvature.square() * variance,
        "found": known.double() / found.shape[1],
    }
    return {
        "directions": table_of(columns, numbered="rank"),
        "profiles": _drawn(steps, losses, options["profiles"]),
    }


def parabolas(steps: Tensor, logs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The minimum and the curvature of ln L^µ along each direction, and whether there is one.

    `logs` is (directions, minibatches, points), at the evenly spaced `steps` (directions, points).
    The fit is by least squares, over all points where L^µ is at most e times its minimum, and at
    least over the three points around the minimum. The valley must end within reach on both sides,
    and the parabola's minimum must be among its points.
    """
    least, place = logs.min(-1, keepdim=True)
    points = torch.arange(logs.shape[-1], device=logs.device)
    within = (logs <= least + 1) | ((points - place).abs() <= 1)
    spacing = (steps[:, 1] - steps[:, 0]).unsqueeze(1)
    x = torch.where(within, points - place, 0).to(logs)
    powers = torch.stack([within.to(logs), x, x.square()], dim=-1)
    values = torch.where(within, logs - least, 0.0)
    # LAPACK refuses NaN, as of a direction whose F_i has no end. Zeros have no minimum either.
    values = torch.where(values.isfinite().all(-1, keepdim=True), values, 0.0)
    _, b, c = torch.linalg.lstsq(powers, values.unsqueeze(-1)).solution.squeeze(-1).unbind(-1)
    at = steps.gather(1, place.squeeze(-1))
    vertex = -b / (2 * c)
    among = (x.amin(-1) <= vertex) & (vertex <= x.amax(-1))
    found = (c > 0) & among & ~within[..., 0] & ~within[..., -1]
    return at + spacing * vertex, 2 * c / spacing.square(), found


def _profiles(
    solution: Solution, layer: str, directions: Tensor, drawn: Tensor
) -> tuple[Tensor, Tensor]:
    """The steps (directions, points), and L^µ there as (directions, minibatches, points).

    The unit of the steps is F_i of all drawn images together.
    """
    seen = solution.on(drawn.flatten())
    activity = seen.into(layer, seen.inputs)
    left, right = interval(seen, layer, activity, directions, e)
    steps = (right.at - left.at).unsqueeze(1) * UNITS.to(activity)
    z = seen.preactivation(layer, activity)
    losses = z.new_empty(len(directions), len(drawn), len(UNITS))
    for n, direction in enumerate(directions):
        change = activity @ direction
        for point, step in enumerate(steps[n].tolist()):
            logits = seen.logits_from(layer, torch.add(z, change, alpha=step))
            losses[n, :, point] = sample_losses(logits, seen.labels).view(drawn.shape).mean(1)
    return steps, losses


def _mean(values: Tensor, found: Tensor) -> Tensor:
    return torch.where(found, values, 0.0).sum(1) / found.sum(1)


def _drawn(steps: Tensor, losses: Tensor, ranks: list[int]) -> DataFrame:
    chosen = torch.tensor(ranks, dtype=torch.long, device=steps.device) - 1
    shown = losses[chosen, :SHOWN]
    columns = {
        "rank": (chosen + 1).view(-1, 1, 1).expand_as(shown),
        "minibatch": (torch.arange(shown.shape[1]) + 1).view(1, -1, 1).expand_as(shown),
        "delta": steps[chosen].unsqueeze(1).expand_as(shown),
        "loss": shown,
    }
    return table_of(columns)
