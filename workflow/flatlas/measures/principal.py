"""Principal components of a recorded trajectory: the directions p_i along which SGD moves (Eq. 5).

w(t) = ⟨w⟩_T + Σ_i θ_i(t) p_i, where the p_i are eigenvectors of the covariance of the weights over
the window of T steps, and the variances σ_i² = T⁻¹ Σ_t θ_i² its eigenvalues.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.measures.solution import Solution

# Steps that are held in float64 at a time: 20 MB of a layer of 2,500 weights.
STEPS = 1000
# Columns of the covariance that are added to at a time.
STRIP = 250
TINY = torch.finfo(torch.float64).tiny


@dataclass(frozen=True)
class Principal:
    """The mean ⟨w⟩_T, the variances σ_i², descending, and the p_i, each a row of `directions`.

    The sign of p_i is such that θ_i ends above where it began: along p_1, the drift goes upwards.
    `residual` is |C p_i − σ_i² p_i| for the covariance C, relative to σ_1².
    """

    mean: Tensor
    variances: Tensor
    directions: Tensor
    residual: Tensor

    def matrices(self, shape: tuple[int, ...]) -> Tensor:
        """The directions in the shape of the layer's weights."""
        return self.directions.reshape(-1, *shape)


def principal(trajectory: np.ndarray, device: torch.device) -> Principal:
    """All directions of a trajectory (steps, weights) that can have a variance, in float64.

    scikit-learn's quick way (`covariance_eigh`) takes the mean away after squaring, and loses the
    tail of the spectrum, where σ_i is far below the weights: it is wrong there by 5 %, this by
    5e-6 (benchmarks/annealing.py).
    """
    steps, weights = trajectory.shape
    mean = torch.zeros(weights, dtype=torch.float64, device=device)
    for block in _blocks(trajectory, device):
        mean += block.sum(0) / steps
    covariance = mean.new_zeros(weights, weights)
    for block in _blocks(trajectory, device):
        block -= mean
        # Of a symmetric matrix the lower half is enough work.
        for begin in range(0, weights, STRIP):
            strip = covariance[begin:, begin : begin + STRIP]
            strip.addmm_(block[:, begin:].T, block[:, begin : begin + STRIP], alpha=1 / steps)
    covariance = covariance.tril() + covariance.tril(-1).T
    variances, directions = torch.linalg.eigh(covariance)
    # Of so many steps around their mean, no more directions are independent.
    most = min(steps - 1, weights)
    variances = variances.flip(0)[:most].clamp_min(0)
    directions = directions.T.flip(0)[:most]
    residual = (directions @ covariance - variances.unsqueeze(1) * directions).norm(dim=1)
    first, last = (next(_blocks(trajectory[[t]], device))[0] for t in (0, -1))
    directions[directions @ (last - first) < 0] *= -1
    return Principal(mean, variances, directions, residual / variances[:1].clamp_min(TINY))


def principal_of(solution: Solution, layer: str, count: int | None = None) -> Principal:
    """The first `count` directions, or all, of the trajectory of a solution's layer."""
    weight = solution.parameters[f"{solution.net.layer(layer).name}.weight"]
    trajectory = solution.trajectory
    if trajectory is None or trajectory.shape[1] != weight.numel():
        found = "none" if trajectory is None else f"one of {trajectory.shape[1]} weights"
        raise FlatlasError(
            f"the {weight.numel()} weights of '{layer}' need a trajectory, but there is {found}: "
            f"train with snapshots: {layer}."
        )
    whole = principal(trajectory, weight.device)
    most = len(whole.variances)
    if count is not None and count > most:
        raise FlatlasError(
            f"directions is {count}, but the trajectory of '{layer}' has {most}: "
            "give a number up to that."
        )
    return Principal(
        whole.mean, whole.variances[:count], whole.directions[:count], whole.residual[:count]
    )


def by_rank(columns: Mapping[str, Tensor]) -> DataFrame:
    """A row for each direction, known by its rank, from 1 on."""
    table = DataFrame({name: column.cpu().numpy() for name, column in columns.items()})
    table.insert(0, "rank", range(1, len(table) + 1))
    return table


def projections(trajectory: np.ndarray, found: Principal) -> Tensor:
    """θ_i(t) as (steps, directions)."""
    blocks = _blocks(trajectory, found.mean.device)
    return torch.cat([(block - found.mean) @ found.directions.T for block in blocks])


def _blocks(trajectory: np.ndarray, device: torch.device) -> Iterator[Tensor]:
    for begin in range(0, len(trajectory), STEPS):
        rows = trajectory[begin : begin + STEPS].astype(np.float64)
        yield torch.as_tensor(rows, device=device)
