"""The average of iterates is the solution of a run that asks for it."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from short_runs import run, samples, trained

from flatlas.training.averaging import RunningMean


def test_the_running_mean_is_that_of_the_rows_that_stay():
    """Of iterates in one tensor, which later steps change."""
    iterates = torch.randn(50, 3, 4, generator=torch.Generator().manual_seed(0)).double()
    stays, mean = torch.tensor([0, 2]), RunningMean()
    w = torch.empty(3, 4, dtype=torch.float64)
    for iterate in iterates[:20]:
        mean.add({"w": w.copy_(iterate)})
    torch.testing.assert_close(mean.mean["w"], iterates[:20].mean(0))
    mean.keep(stays)
    for iterate in iterates[20:]:
        mean.add({"w": iterate[stays]})
    torch.testing.assert_close(mean.mean["w"], iterates[:, stays].mean(0))


def test_the_running_mean_follows_small_steps_for_long():
    """A weight that grows by the last bit of a float32 in each eighth step."""
    rounds, bit = 2000, 2.0**-23
    mean, w = RunningMean(), torch.ones(1)
    for _ in range(rounds):
        for _ in range(8):
            mean.add({"w": w})
        w += bit
    assert (mean.mean["w"].item() - 1) / bit == pytest.approx((rounds - 1) / 2, rel=1e-6)


def test_the_solution_is_the_mean_of_the_iterates_from_its_epoch_on(tmp_path):
    """A net of one layer: snapshots are all its weights after every step from epoch 2 on."""
    same = {"net": {"family": "dense", "hidden": ()}, "stop": {"epochs": 1, "extra_epochs": 3}}
    averaged = run(**same, average={"from_epoch": 3}, checkpoints=(2, 3))
    done = trained(averaged, samples(), tmp_path / "averaged")
    recorded = trained(run(**same, snapshots="fc1"), samples(), tmp_path / "recorded")
    iterates = recorded.trajectory.array.reshape(3, 3, 6, 6, 3)  # member, epoch, step, weights
    weights = done.weights
    np.testing.assert_array_equal(weights["epoch-00002/fc1.weight"], iterates[:, 0, -1])
    of_epoch_3 = iterates[:, 1].mean(1)
    np.testing.assert_allclose(weights["epoch-00003/fc1.weight"], of_epoch_3, atol=1e-6)
    of_both = iterates[:, 1:].mean((1, 2))
    np.testing.assert_allclose(weights["final/fc1.weight"], of_both, atol=1e-6)
    np.testing.assert_array_equal(weights["final.last/fc1.weight"], iterates[:, -1, -1])
    assert {array.dtype for array in weights.values()} == {np.dtype(np.float32)}
    norms = np.linalg.norm(weights["final/fc1.weight"], axis=(1, 2))
    np.testing.assert_allclose(done.history.weight_norm[-3:], norms, rtol=1e-6)


def test_an_average_begins_in_the_last_epoch_at_the_latest():
    stop = {"epochs": 2, "extra_epochs": 3}
    assert run(stop=stop, average={"from_epoch": 5}).average.from_epoch == 5
    with pytest.raises(ValidationError, match=r"average\.from_epoch .* 5"):
        run(stop=stop, average={"from_epoch": 6})
