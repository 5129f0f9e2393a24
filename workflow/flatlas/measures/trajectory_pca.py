"""How SGD moves along the principal directions of its own trajectory (Fig. 1): drift, diffusion."""

from collections.abc import Mapping
from math import e
from typing import Any

import numpy as np
import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.measures.principal import principal_of, projections
from flatlas.measures.solution import Solution
from flatlas.measures.tables import table_of

# The maximum number of points of a drawn θ_i(t).
POINTS = 2000
# Directions whose correlations are computed at a time: 16 MB for 12,000 steps.
HELD = 64


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`directions` has a row for each p_i, `projections` θ_i(t) for the ranks in `components`.

    `share` is σ_i² divided by the sum over all directions; `cumulative` is the share of directions
    2 to i in the sum without the first (Fig. 1B). `velocity_time` is the correlation time of the
    velocity in epochs. `time` is in epochs, from the first step.
    """
    found = principal_of(solution, options["layer"])
    # Without a trajectory, `principal_of` has raised an error.
    assert solution.trajectory is not None
    theta = projections(solution.trajectory, found)
    epoch = len(theta) // options["epochs"]
    diffusive = found.variances.clone()
    diffusive[0] = 0
    columns = {
        "variance": found.variances,
        "share": found.variances / found.variances.sum(),
        "cumulative": diffusive.cumsum(0) / diffusive.sum(),
        "velocity_time": velocity_time(theta, epoch),
        "residual": found.residual,
    }
    return {
        "directions": table_of(columns, numbered="rank"),
        "projections": _drawn(theta, epoch, options["components"]),
    }


def velocity_time(theta: Tensor, epoch: int) -> Tensor:
    """For each column of θ_i(t): the lag, in epochs, at which its velocity's correlation is 1/e.

    The paper compares this time with an epoch but defines neither time nor velocity. Here the
    velocity is the displacement within one epoch, v(t) = θ(t + epoch) − θ(t), because from one
    minibatch to the next noise hides even the drift. ⟨v(t) v(t + τ)⟩ / ⟨v²⟩, without subtracting
    the mean, stays near 1 for a drift; the time is infinite if it never falls to 1/e. Independent
    steps have a time of 1 − 1/e, from the overlap of two displacements.
    """
    velocity = theta[epoch:] - theta[:-epoch]
    lags = torch.cat([_falls_to(_correlation(some), 1 / e) for some in velocity.split(HELD, 1)])
    return lags / epoch


def _correlation(velocity: Tensor) -> Tensor:
    """⟨v(t) v(t + τ)⟩ / ⟨v²⟩ of each column, for τ = 0, 1, ..., by Wiener and Khinchin."""
    steps = len(velocity)
    spectrum = torch.fft.rfft(velocity, 2 * steps, dim=0).abs().square()
    products = torch.fft.irfft(spectrum, 2 * steps, dim=0)[:steps]
    pairs = torch.arange(steps, 0, -1, device=velocity.device).unsqueeze(1)
    means = products / pairs
    return means / means[0]


def _falls_to(columns: Tensor, level: float) -> Tensor:
    """Where each column first falls to the level, linearly interpolated; or infinity."""
    below = columns <= level
    after = below.long().argmax(0, keepdim=True).clamp_min(1)
    upper, lower = columns.gather(0, after - 1), columns.gather(0, after)
    where = after - 1 + (upper - level) / (upper - lower)
    return torch.where(below.any(0), where.squeeze(0), torch.inf)


def _drawn(theta: Tensor, epoch: int, ranks: list[int]) -> DataFrame:
    """θ_i(t) of some ranks, evenly thinned if there are too many steps to draw."""
    if max(ranks, default=0) > theta.shape[1]:
        raise FlatlasError(
            f"components has rank {max(ranks)}, but the trajectory has only {theta.shape[1]} "
            "directions: give ranks up to that number."
        )
    steps = np.linspace(0, len(theta) - 1, min(len(theta), POINTS)).round().astype(int)
    kept = theta.cpu().numpy()[np.ix_(steps, np.array(ranks, dtype=int) - 1)]
    return DataFrame(
        {
            "rank": np.repeat(np.array(ranks, dtype=int), len(steps)),
            "step": np.tile(steps + 1, len(ranks)),
            "time": np.tile((steps + 1) / epoch, len(ranks)),
            "theta": kept.T.ravel(),
        }
    )
