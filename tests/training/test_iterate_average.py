"""The average of iterates is the solution where a run asks for it."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from short_runs import run, samples, trained

from flatlas.training.averaging import RunningMean


def test_the_running_mean_is_the_mean():
    iterates = torch.randn(50, 3, 4, generator=torch.Generator().manual_seed(0))
    mean = RunningMean()
    for iterate in iterates:
        mean.add({"w": iterate})
    torch.testing.assert_close(mean.mean["w"], iterates.mean(0))


def test_the_running_mean_keeps_no_hand_on_the_weights():
    w = torch.ones(1, 2)
    mean = RunningMean()
    mean.add({"w": w})
    w += 1
    assert mean.mean["w"].tolist() == [[1.0, 1.0]]


def test_rows_leave_the_mean():
    iterates = torch.randn(6, 3, 4, generator=torch.Generator().manual_seed(0))
    mean = RunningMean()
    for iterate in iterates[:3]:
        mean.add({"w": iterate})
    mean.keep(torch.tensor([0, 2]))
    for iterate in iterates[3:]:
        mean.add({"w": iterate[[0, 2]]})
    torch.testing.assert_close(mean.mean["w"], iterates[:, [0, 2]].mean(0))


def averaged(folder):
    """A net of one layer: all its weights after every step from epoch 2 on are in `trajectory`."""
    spec = run(
        net={"family": "dense", "hidden": ()},
        stop={"epochs": 1, "extra_epochs": 3},
        snapshots="fc1",
        average={"from_epoch": 3},
        checkpoints=(2, 3),
    )
    return trained(spec, samples(), folder)


def test_the_solution_is_the_mean_of_the_iterates_from_its_epoch_on(tmp_path):
    done = averaged(tmp_path)
    iterates = done.trajectory.array.reshape(3, 3, 6, 6, 3)  # member, epoch, step, weights
    weights = done.weights
    np.testing.assert_array_equal(weights["epoch-00002/fc1.weight"], iterates[:, 0, -1])
    of_epoch_3 = iterates[:, 1].mean(1)
    np.testing.assert_allclose(weights["epoch-00003/fc1.weight"], of_epoch_3, atol=1e-6)
    of_both = iterates[:, 1:].mean((1, 2))
    np.testing.assert_allclose(weights["final/fc1.weight"], of_both, atol=1e-6)
    np.testing.assert_array_equal(weights["final.last/fc1.weight"], iterates[:, -1, -1])


def test_an_average_begins_in_the_last_epoch_at_the_latest():
    stop = {"epochs": 2, "extra_epochs": 3}
    assert run(stop=stop, average={"from_epoch": 5}).average.from_epoch == 5
    with pytest.raises(ValidationError, match=r"average\.from_epoch is after the last epoch, 5"):
        run(stop=stop, average={"from_epoch": 6})


def test_the_history_looks_at_the_average(tmp_path):
    done = averaged(tmp_path)
    norms = np.linalg.norm(done.weights["final/fc1.weight"], axis=(1, 2))
    np.testing.assert_allclose(done.history.weight_norm[-3:], norms, rtol=1e-6)
