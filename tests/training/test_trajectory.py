"""One layer's weights after every minibatch of the extra epochs."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from plain_training import loss_gradient, shuffles, start
from short_runs import run, samples, trained

from flatlas.errors import FlatlasError
from flatlas.training.trajectory import Trajectory

STOP = {"epochs": 60, "loss_below": 0.7, "extra_epochs": 2}
STEPS = 7  # of 26 images in fours


def test_it_ends_at_the_final_weights_and_in_its_file(tmp_path):
    done = trained(run(snapshots="fc2", stop=STOP), samples(count=26), tmp_path / "resume")
    trajectory = np.array(done.trajectory.array)
    assert done.outcomes.met_epoch.nunique() > 1  # the members' extra epochs lie apart
    assert trajectory.shape == (3, 2 * STEPS, 8 * 6)
    assert np.isfinite(trajectory).all()
    final = done.weights["final/fc2.weight"].reshape(3, -1)
    np.testing.assert_array_equal(trajectory[:, -1], final)
    done.trajectory.finish(tmp_path / "results" / "trajectory.npy")
    found = np.load(tmp_path / "results" / "trajectory.npy", mmap_mode="r", allow_pickle=False)
    np.testing.assert_array_equal(found, trajectory)


def test_it_may_end_on_another_disk(tmp_path):
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no other disk")
    made = Trajectory(tmp_path / "trajectory.npy", (1, 2, 3))
    made.begin()
    made.array[:] = 7
    with TemporaryDirectory(dir=memory) as folder:
        made.finish(Path(folder) / "trajectory.npy")
        assert (np.load(Path(folder) / "trajectory.npy") == 7).all()
    assert list(tmp_path.iterdir()) == []


def test_consecutive_rows_differ_by_the_step_of_their_minibatch(tmp_path):
    """A net whose only weights are those recorded."""
    net = {"family": "dense", "hidden": ()}
    spec = run(net=net, snapshots="fc1", stop=STOP, overtraining=(0,))
    data = samples(count=26)
    done = trained(spec, data, tmp_path)
    for member, seed in enumerate(spec.seeds):
        net, _ = start(spec, seed)
        labels, orders = data.labels[member], shuffles(seed, 26)
        for _ in range(done.outcomes.met_epoch[member]):
            next(orders)
        batches = [batch for _ in range(2) for batch in next(orders).split(4)]
        before = done.weights["met+00000/fc1.weight"][member]
        for batch, after in zip(batches, done.trajectory.array[member], strict=True):
            weights = {"fc1.weight": torch.from_numpy(before)}
            slope = loss_gradient(net, weights, data.inputs[member][batch], labels[batch])
            expected = before - spec.optimizer.lr * slope["fc1.weight"].numpy()
            before = after.reshape(before.shape)
            np.testing.assert_allclose(before, expected, atol=1e-6)


def test_an_unknown_layer_is_refused_before_training(tmp_path):
    with pytest.raises(FlatlasError, match=r"'fc7'.*fc1, fc2, fc3"):
        trained(run(snapshots="fc7", stop=STOP), samples(), tmp_path)
