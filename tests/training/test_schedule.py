"""Learning-rate factors at chosen epochs, and that training obeys them."""

import numpy as np
import pytest
from pydantic import ValidationError
from short_runs import run, samples, trained

from flatlas.plan.training_specs import Schedule
from flatlas.training.schedule import factor


@pytest.mark.parametrize("epoch", [1, 50, 500])
def test_constant(epoch):
    assert factor(Schedule(), epoch, 100) == 1.0


@pytest.mark.parametrize(
    ("epoch", "expected"), [(1, 1.0), (160, 1.0), (161, 0.1), (240, 0.1), (241, 0.01)]
)
def test_steps_come_after_their_epochs(epoch, expected):
    schedule = Schedule(kind="step", epochs=(160, 240))
    assert factor(schedule, epoch, 320) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [(1, 1.0), (51, 1.0), (61, 1 - 0.99 / 4), (71, 0.505), (91, 0.01), (100, 0.01), (120, 0.01)],
)
def test_linear_tail(epoch, expected):
    """Epoch e begins when (e - 1) / 100 of the training is done; it may go on after the end."""
    assert factor(Schedule(kind="linear_tail"), epoch, 100) == pytest.approx(expected)


def test_linear_tail_with_its_own_corners():
    schedule = Schedule(kind="linear_tail", hold=0.2, land=0.6, floor=0.5)
    factors = [factor(schedule, epoch, 10) for epoch in range(1, 11)]
    assert factors == pytest.approx([1, 1, 1, 0.875, 0.75, 0.625, 0.5, 0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    "settings", [{"kind": "step"}, {"epochs": (3,)}, {"kind": "linear_tail", "epochs": (3,)}]
)
def test_steps_and_their_epochs_come_together(settings):
    with pytest.raises(ValidationError, match="epochs of the steps belong to kind: step"):
        Schedule(**settings)


def test_training_obeys_the_schedule(tmp_path):
    """A rate that falls to nothing after epoch 2 leaves the weights where they are."""
    fall = {"kind": "step", "epochs": (2,), "factor": 1e-30}
    spec = run(stop={"epochs": 4}, schedule=fall, checkpoints=(1, 2))
    weights = trained(spec, samples(), tmp_path).weights
    for name in ("fc1.weight", "fc3.bias"):
        np.testing.assert_array_equal(weights[f"epoch-00002/{name}"], weights[f"final/{name}"])
        assert (weights[f"epoch-00001/{name}"] != weights[f"final/{name}"]).any()
