"""The principal components of a recording as long as the paper's, compared with scikit-learn.

The data are 12,000 steps of 2,500 weights with a spectrum like that of a recording: σ² falls by
eleven decades over all ranks. Also timed: the valley along 200 directions, on 60,000 images.
"""

from dataclasses import replace
from time import process_time

import numpy as np
import torch
from sklearn.decomposition import PCA

from benchmarks.costs import timed
from benchmarks.noise import random_solution
from flatlas.measures import valley
from flatlas.measures.principal import principal

STEPS, WIDTH, IMAGES = 12_000, 50, 60_000
VALLEY = {"layer": "fc2", "directions": 200, "factor": np.e, "profiles": [10]}


def main() -> None:
    """Print processor seconds, and how many times as many scikit-learn takes."""
    trajectory = _trajectory()
    (one, _), found = timed(process_time, principal, trajectory, torch.device("cpu"))
    exact = trajectory.astype(float)
    (other, _), full = timed(process_time, PCA(svd_solver="full").fit, exact)
    (quick, _), covariance = timed(process_time, PCA(svd_solver="covariance_eigh").fit, exact)
    variances = found.variances.numpy() * STEPS / (STEPS - 1)
    print(f"principal components    {one:8.2f} s, scikit-learn {other / one:.1f} times that")
    print(f"                        which agree to {_apart(variances, full):.0e}")
    print(f"                        by its covariance {quick / one:.1f} times, ", end="")
    print(f"to {_apart(covariance.explained_variance_, full):.0e}")
    solution = replace(random_solution((WIDTH, WIDTH), IMAGES), trajectory=trajectory)
    (seconds, _), tables = timed(process_time, valley.measure, solution, VALLEY)
    found_all = tables["directions"]["converged"].all()
    print(f"a valley, 200 wide      {seconds:8.1f} s, all ends found: {found_all}")


def _apart(variances: np.ndarray, expected: PCA) -> float:
    """The largest relative difference of a variance."""
    return float(np.abs(variances / expected.explained_variance_ - 1).max())


def _trajectory() -> np.ndarray:
    """A made-up trajectory around weights of the usual size, in float32."""
    random, count = np.random.default_rng(0), WIDTH**2
    basis = np.linalg.qr(random.normal(size=(count, count)))[0]
    noise = random.normal(size=(STEPS, count)) * np.geomspace(1e-2, 3e-8, count)
    return (0.1 * random.normal(size=count) + noise @ basis).astype(np.float32)
