"""The weights a training leaves behind at chosen epochs."""

import numpy as np
import pytest
from short_runs import run, samples, trained

from flatlas.nets import build_net

NAMES = ("fc1.weight", "fc1.bias", "fc3.weight", "fc3.bias")


def test_epoch_zero_has_the_initial_weights(tmp_path):
    spec = run(checkpoints=(0,))
    weights = trained(spec, samples(), tmp_path).weights
    initial = build_net(spec.net, spec.input_shape, spec.outputs).initial(spec.seeds)
    for name, value in initial.items():
        np.testing.assert_array_equal(weights[f"epoch-00000/{name}"], value.numpy())


@pytest.mark.parametrize("epoch", [1, 2, 4])
def test_a_checkpoint_has_the_weights_of_a_run_that_stops_there(tmp_path, epoch):
    long = trained(run(stop={"epochs": 4}, checkpoints=(1, 2, 4)), samples(), tmp_path / "long")
    short = trained(run(stop={"epochs": epoch}), samples(), tmp_path / "short")
    for name in NAMES:
        kept = long.weights[f"epoch-{epoch:05d}/{name}"]
        np.testing.assert_array_equal(kept, short.weights[f"final/{name}"])


@pytest.mark.parametrize("learners", [None, {"kind": "dpsgd", "count": 3}])
def test_a_member_that_has_ended_keeps_its_final_weights(tmp_path, learners):
    """Where there are learners, each of theirs."""
    stop = {"epochs": 60, "loss_below": 0.5}
    chosen = {"stop": stop, "learners": learners, "batch": 2}
    ends = trained(run(**chosen), samples(), tmp_path / "ends").outcomes.epoch
    assert ends.nunique() > 1
    middle = int(ends.median())
    spec = run(**chosen, checkpoints=(middle, 1000))
    done = trained(spec, samples(), tmp_path / "kept")
    moments = ["", ".learners"] if learners else [""]
    for name in (f"{moment}/{name}" for moment in moments for name in NAMES):
        final, kept = done.weights[f"final{name}"], done.weights[f"epoch-{middle:05d}{name}"]
        equal = [np.array_equal(final[member], kept[member]) for member in range(3)]
        assert equal == (ends <= middle).tolist()
        np.testing.assert_array_equal(done.weights[f"epoch-01000{name}"], final)
