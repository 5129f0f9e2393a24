"""Principal components of a recorded trajectory: the directions p_i along which SGD moves (Eq. 5).

w(t) = ⟨w⟩_T + Σ_i θ_i(t) p_i, where the p_i are eigenvectors of the covariance of the weights over
the window of T steps, and the variances σ_i² = T⁻¹ Σ_t θ_i² its eigenvalues.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from scipy.linalg import eigh
from scipy.linalg.blas import dsyrk
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.measures.solution import Solution

# Steps converted to float64 at a time: 20 MB for a layer of 2,500 weights.
STEPS = 1000
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Principal:
    """The mean ⟨w⟩_T, the variances σ_i², descending, and the p_i, each a row of `directions`.

    The sign of p_i is such that θ_i ends above its start: along p_1, the drift goes up. `residual`
    is |C p_i − σ_i² p_i| for the covariance C, relative to σ_1².
    """

    mean: Tensor
    variances: Tensor
    directions: Tensor
    residual: Tensor

    def matrices(self, shape: tuple[int, ...]) -> Tensor:
        """The directions in the shape of the layer's weights."""
        return self.directions.reshape(-1, *shape)


def principal(trajectory: np.ndarray, device: torch.device) -> Principal:
    """All directions of a trajectory (steps, weights) with a possible variance, in float64.

    scikit-learn's fast solver (`covariance_eigh`) subtracts the mean after squaring and so loses
    the tail of the spectrum, where σ_i is far below the weights. There its error is 5 %, ours 5e-6
    (benchmarks/annealing.py).
    """
    steps, weights = trajectory.shape
    mean = trajectory.mean(0, dtype=np.float64)
    covariance = np.zeros((weights, weights), order="F")
    for block in _rows(trajectory):
        # The lower half of a symmetric matrix is enough.
        covariance = dsyrk(
            1 / steps, (block - mean).T, beta=1.0, c=covariance, lower=True, overwrite_c=True
        )
    covariance += np.tril(covariance, -1).T
    # torch's eigh uses another LAPACK and takes a fifth longer.
    variances, directions = eigh(covariance, driver="evd")
    # This many steps, centred, have no more independent directions.
    most = min(steps - 1, weights)
    variances = variances[::-1][:most].clip(min=0)
    directions = directions.T[::-1][:most]
    residual = np.linalg.norm(directions @ covariance - variances[:, None] * directions, axis=1)
    drift = directions @ (trajectory[-1].astype(np.float64) - trajectory[0])
    directions = np.where(drift < 0, -1.0, 1.0)[:, None] * directions
    scale = max(variances.max(initial=0.0), TINY)
    parts = (mean, variances, directions, residual / scale)
    return Principal(*(torch.as_tensor(part.copy(), device=device) for part in parts))


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


def projections(trajectory: np.ndarray, found: Principal) -> Tensor:
    """θ_i(t) as (steps, directions)."""
    blocks = (torch.as_tensor(rows, device=found.mean.device) for rows in _rows(trajectory))
    return torch.cat([(block - found.mean) @ found.directions.T for block in blocks])


def _rows(trajectory: np.ndarray) -> Iterator[np.ndarray]:
    for begin in range(0, len(trajectory), STEPS):
        yield trajectory[begin : begin + STEPS].astype(np.float64)
