"""Learning-rate factors at chosen epochs, and a training that follows them."""

import numpy as np
import pytest
from short_runs import run, samples, trained

from flatlas.plan.training_specs import Schedule
from flatlas.training.schedule import factor

STEP = {"kind": "step", "epochs": (160, 240)}
TAIL = {"kind": "linear_tail"}
CORNERS = TAIL | {"hold": 0.2, "land": 0.6, "floor": 0.5}


@pytest.mark.parametrize(
    ("schedule", "epochs", "factors"),
    [
        ({}, 100, {1: 1.0, 50: 1.0, 500: 1.0}),
        (STEP, 320, {1: 1.0, 160: 1.0, 161: 0.1, 240: 0.1, 241: 0.01}),
        # Epoch e begins when (e - 1) / 100 of the training is done; it may go on after the end.
        (TAIL, 100, {1: 1, 51: 1, 61: 1 - 0.99 / 4, 71: 0.505, 91: 0.01, 100: 0.01, 120: 0.01}),
        (CORNERS, 10, {1: 1, 3: 1, 4: 0.875, 5: 0.75, 6: 0.625, 7: 0.5, 8: 0.5, 10: 0.5}),
    ],
)
def test_factors(schedule, epochs, factors):
    schedule = Schedule(**schedule)
    assert {epoch: factor(schedule, epoch, epochs) for epoch in factors} == pytest.approx(factors)


def test_training_follows_the_schedule(tmp_path):
    """With a rate of almost nothing after epoch 2 the weights stay."""
    fall = {"kind": "step", "epochs": (2,), "factor": 1e-30}
    spec = run(stop={"epochs": 4}, schedule=fall, checkpoints=(1, 2))
    weights = trained(spec, samples(), tmp_path).weights
    for name in ("fc1.weight", "fc3.bias"):
        np.testing.assert_array_equal(weights[f"epoch-00002/{name}"], weights[f"final/{name}"])
        assert (weights[f"epoch-00001/{name}"] != weights[f"final/{name}"]).any()
