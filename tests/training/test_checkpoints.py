"""The weights that a training keeps at chosen epochs."""

import numpy as np
import pytest
from short_runs import NAMES, run, samples, trained

from flatlas.nets import build_net


def test_a_checkpoint_has_the_weights_of_a_run_that_stops_there(tmp_path):
    """At epoch 0 these are the initial weights."""
    spec = run(stop={"epochs": 4}, checkpoints=(0, 1, 2, 4))
    long = trained(spec, samples(), tmp_path / "long").weights
    initial = build_net(spec.net, spec.input_shape, spec.outputs).initial(spec.seeds)
    for name in NAMES:
        np.testing.assert_array_equal(long[f"epoch-00000/{name}"], initial[name])
    for epoch in (1, 2, 4):
        short = trained(run(stop={"epochs": epoch}), samples(), tmp_path / str(epoch)).weights
        for name in NAMES:
            np.testing.assert_array_equal(long[f"epoch-{epoch:05d}/{name}"], short[f"final/{name}"])


@pytest.mark.parametrize("learners", [None, {"kind": "dpsgd", "count": 3}])
def test_a_member_that_has_ended_keeps_its_final_weights(tmp_path, learners):
    """With learners, each keeps its own."""
    stop = {"epochs": 60, "loss_below": 0.5}
    chosen = {"stop": stop, "learners": learners, "batch": 2}
    ends = trained(run(**chosen), samples(), tmp_path / "ends").outcomes.epoch
    assert ends.nunique() > 1
    middle = int(ends.median())
    spec = run(**chosen, checkpoints=(middle, 1000))
    weights = trained(spec, samples(), tmp_path / "kept").weights
    for name in [
        f"{part}/{name}" for part in ["", ".learners"][: 1 + bool(learners)] for name in NAMES
    ]:
        final, kept = weights[f"final{name}"], weights[f"epoch-{middle:05d}{name}"]
        equal = [np.array_equal(final[member], kept[member]) for member in range(3)]
        assert equal == (ends <= middle).tolist()
        np.testing.assert_array_equal(weights[f"epoch-01000{name}"], final)
