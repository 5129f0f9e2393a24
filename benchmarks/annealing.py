"""The principal components of a recording as long as the paper's, compared with scikit-learn.

The data are 12,000 steps of 2,500 weights with a spectrum like that of a recording: σ² falls by a
factor of 10⁻¹¹ over all ranks. Also timed: the valley along 200 directions, on 60,000 images.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.decomposition import PCA

from flatlas.measures import valley
from flatlas.measures.principal import principal
from flatlas.measures.solution import Solution
from flatlas.nets import build_net
from flatlas.plan.families.dense import DenseNet

STEPS, WIDTH, IMAGES = 12_000, 50, 60_000
VALLEY = {"layer": "fc2", "directions": 200, "factor": np.e, "profiles": [10]}


def main() -> None:
    """Print seconds of the processor, and how many times those scikit-learn takes."""
    trajectory = _trajectory()
    one, found = _timed(lambda: principal(trajectory, torch.device("cpu")))
    exact = trajectory.astype(float)
    other, full = _timed(lambda: PCA(svd_solver="full").fit(exact))
    quick, covariance = _timed(lambda: PCA(svd_solver="covariance_eigh").fit(exact))
    variances = found.variances.numpy() * STEPS / (STEPS - 1)
    print(f"principal components    {one:8.2f} s, scikit-learn {other / one:.1f} times that")
    print(f"                        which agree to {_apart(variances, full):.0e}")
    print(f"                        by its covariance {quick / one:.1f} times, ", end="")
    print(f"to {_apart(covariance.explained_variance_, full):.0e}")
    solution = _solution(trajectory)
    seconds, tables = _timed(lambda: valley.measure(solution, VALLEY))
    found_all = tables["directions"]["converged"].all()
    print(f"a valley, 200 wide      {seconds:8.1f} s, all ends found: {found_all}")


def _timed(way: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    result = way()
    return time.process_time() - began, result


def _apart(variances: np.ndarray, expected: PCA) -> float:
    """The largest relative difference of a variance."""
    return float(np.abs(variances / expected.explained_variance_ - 1).max())


def _trajectory() -> np.ndarray:
    """Around weights of the usual size, in float32."""
    random, count = np.random.default_rng(0), WIDTH**2
    basis = np.linalg.qr(random.normal(size=(count, count)))[0]
    noise = random.normal(size=(STEPS, count)) * np.geomspace(1e-2, 3e-8, count)
    return (0.1 * random.normal(size=count) + noise @ basis).astype(np.float32)


def _solution(trajectory: np.ndarray) -> Solution:
    """An untrained net on images of noise: the cost of a loss does not depend on its size."""
    net = build_net(DenseNet(family="dense", hidden=(WIDTH, WIDTH)), (1, 28, 28), 10)
    parameters = {name: w.double() for name, w in net.initial([0]).items()}
    random = torch.Generator().manual_seed(0)
    pixels = torch.rand(1, IMAGES, 1, 28, 28, generator=random, dtype=torch.float64)
    labels = torch.randint(10, (1, IMAGES), generator=random)
    return Solution(
        net=net,
        seed=0,
        parameters=parameters,
        learners=parameters,
        inputs=pixels,
        labels=labels,
        clean=torch.ones_like(labels, dtype=torch.bool),
        test_inputs=pixels[:, :1],
        test_labels=labels[:, :1],
        trajectory=trajectory,
    )
