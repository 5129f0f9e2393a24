"""A training on a GPU: what the CPU finds, up to rounding, and twice the same bytes."""

import numpy as np
import pandas as pd
import pytest
from short_runs import (
    CONVOLUTIONAL,
    DROPOUT,
    NORMED,
    SavesEveryEpoch,
    assert_same,
    interrupted,
    optimizer,
    quiet,
    run,
    samples,
)

from flatlas.device import gpu_memory_mib
from flatlas.training.resume import Resume
from flatlas.training.trainer import train

pytestmark = pytest.mark.gpu

CASES = {
    "sgd": {},
    "momentum": optimizer("momentum", lr=0.05),
    "adam": optimizer("adam", lr=0.02),
    "adagrad": optimizer("adagrad", lr=0.1),
    "entropy_sgd": optimizer("entropy_sgd", noise=0.01, langevin_steps=7),
    "learners": {"learners": {"kind": "dpsgd", "count": 3}, "batch": 2},
    "dropout and penalty": DROPOUT | {"penalty": {"form": "unsquared", "coefficient": 0.01}},
    "average": {"average": {"from_epoch": 2}},
    "trajectory": {"snapshots": "fc2", "stop": {"epochs": 2, "extra_epochs": 2}},
    "binary": {"outputs": 1},
    "convolutional": CONVOLUTIONAL,
    # With small batches rounding grows a hundred thousand times in three epochs.
    "batch norm": NORMED | {"batch": 12},
}


@pytest.fixture(params=CASES)
def chosen(request):
    spec = run(**CASES[request.param])
    return spec, samples(shape=spec.input_shape, classes=max(spec.outputs, 2))


def test_a_gpu_finds_what_the_cpu_finds(tmp_path, cuda, chosen):
    on_cpu, on_gpu = (
        train(*chosen, Resume(tmp_path / device), quiet, device) for device in ("cpu", cuda)
    )
    assert on_gpu.weights.keys() == on_cpu.weights.keys()
    for name, array in on_cpu.weights.items():
        np.testing.assert_allclose(on_gpu.weights[name], array, rtol=1e-3, atol=1e-4, err_msg=name)
    pd.testing.assert_frame_equal(on_gpu.history, on_cpu.history, rtol=1e-3, atol=1e-4)
    if on_cpu.trajectory is not None:
        found, expected = on_gpu.trajectory.array, on_cpu.trajectory.array
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


def test_a_gpu_finds_the_same_bytes_twice_in_bfloat16(tmp_path, cuda):
    spec = run(**CASES["batch norm"], precision="bfloat16")
    data = samples(shape=spec.input_shape)
    first, second = (
        train(spec, data, Resume(tmp_path / attempt), quiet, cuda) for attempt in ("one", "two")
    )
    assert_same(first, second)
    assert gpu_memory_mib(cuda) > 0


def test_an_interruption_on_a_gpu_leaves_no_trace(tmp_path, cuda, chosen):
    """And so two trainings leave the same bytes."""
    undisturbed = train(*chosen, Resume(tmp_path / "undisturbed"), quiet, cuda)
    interrupted(*chosen, SavesEveryEpoch(tmp_path / "resume"), epoch=2, device=cuda)
    resumed = Resume(tmp_path / "resume")
    assert resumed.find()[1]["done_epochs"] >= 1
    assert_same(train(*chosen, resumed, quiet, cuda), undisturbed)


def test_members_leave_the_stack_on_a_gpu(tmp_path, cuda):
    """Each optimizer's state is cut to the rows that stay."""
    for name, rate in (("adam", {"lr": 0.02}), ("entropy_sgd", {"inner_lr": 0.5})):
        spec = run(**optimizer(name, **rate), stop={"epochs": 40, "loss_below": 0.6})
        done = train(spec, samples(), Resume(tmp_path / name), quiet, cuda)
        assert done.outcomes.epoch.nunique() > 1
        assert done.outcomes.converged.all()
