"""The noise of gradients: exact in the mean over all ways to cut a tiny set into batches."""

from itertools import pairwise, permutations

import numpy as np
import pytest
import torch
from quadratics import Quadratic, positive_definite

from flatlas.flatness.gradient_noise import gradient_noise

SIZE, N = 4, 5
HESSIAN = positive_definite(SIZE)
SLOPES = torch.randn(N, SIZE, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def noise(cut, slopes=SLOPES, top=2):
    """The noise of batches (lists of examples) whose losses are quadratic with different slopes."""
    examples = [len(batch) for batch in cut]
    share = len(cut) / sum(examples)
    parts = [
        Quadratic(HESSIAN * share * len(batch), slope=share * slopes[list(batch)].sum(0))
        for batch in cut
    ]
    whole = Quadratic(HESSIAN, slope=slopes.mean(0))
    random = torch.Generator().manual_seed(0)
    return gradient_noise(whole, parts, examples, top, 1e-10, random)


def covariance():
    return torch.from_numpy(np.cov(SLOPES.T.numpy()))


@pytest.mark.parametrize("sizes", [(2, 2, 1), (3, 2), (1, 1, 1, 1, 1)])
def test_it_is_exact_in_the_mean_over_all_batches(sizes):
    ends = np.cumsum((0, *sizes))
    found = [noise([order[a:b] for a, b in pairwise(ends)]) for order in permutations(range(N))]
    matrix, top = covariance(), torch.linalg.eigh(HESSIAN).eigenvectors[:, -2:].flip(1)
    expected = (top.T @ matrix @ top).diagonal()
    trace = matrix.trace().item()
    assert np.mean([one.trace.value for one in found]) == pytest.approx(trace, rel=1e-10)
    np.testing.assert_allclose(np.mean([one.along for one in found], 0), expected, rtol=1e-8)
    scale = trace / SLOPES.mean(0).square().sum().item()
    assert np.mean([one.scale.value for one in found]) == pytest.approx(scale, rel=1e-10)


def test_batches_of_one_example_have_the_exact_share():
    found, matrix = noise([[i] for i in range(N)], top=SIZE), covariance()
    assert found.share.value == pytest.approx(1)
    assert found.share.standard_error < 1e-8
    assert found.along.sum() == pytest.approx(matrix.trace().item())
    assert found.converged


def test_standard_errors_are_the_spread_over_samples():
    random = torch.Generator().manual_seed(2)
    found = []
    for _ in range(200):
        slopes = torch.randn(120, SIZE, generator=random, dtype=torch.float64) + 1
        found.append(noise(torch.arange(120).view(30, 4).tolist(), slopes, top=1))
    for name in ("trace", "share"):
        estimates = [getattr(one, name) for one in found]
        spread = np.std([one.value for one in estimates], ddof=1)
        said = np.mean([one.standard_error for one in estimates])
        assert said == pytest.approx(spread, rel=0.2)
    assert np.mean([one.trace.value for one in found]) == pytest.approx(SIZE, rel=0.05)
