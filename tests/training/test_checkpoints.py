"""The weights that a training keeps at chosen epochs, and the names of these moments."""

import numpy as np
import pandas as pd
import pytest
from short_runs import NAMES, run, samples, trained

from flatlas.nets import build_net
from flatlas.training.moments import kept_moments


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
    """Each learner, if there are any, keeps its own weights."""
    stop = {"epochs": 60, "loss_below": 0.5}
    chosen = {"stop": stop, "learners": learners, "batch": 2}
    ends = trained(run(**chosen), samples(), tmp_path / "ends").outcomes.epoch
    assert ends.nunique() > 1
    middle = int(ends.median())
    spec = run(**chosen, checkpoints=(middle, 60))
    weights = trained(spec, samples(), tmp_path / "kept").weights
    for name in [
        f"{part}/{name}" for part in ["", ".learners"][: 1 + bool(learners)] for name in NAMES
    ]:
        final, kept = weights[f"final{name}"], weights[f"epoch-{middle:05d}{name}"]
        equal = [np.array_equal(final[member], kept[member]) for member in range(3)]
        assert equal == (ends <= middle).tolist()
        np.testing.assert_array_equal(weights[f"epoch-00060{name}"], final)


KEYS = {"0": "epoch-00000", "8": "epoch-00008", "20": "epoch-00020"}
KEYS |= {"met+0": "met+00000", "met+5": "met+00005", "final": "final"}


@pytest.mark.parametrize(
    ("reason", "met", "end", "reached"),
    [
        # It had ended before epoch 20.
        ("rule met", 7, 17, {"0": 0, "8": 8, "20": 17, "met+0": 7, "met+5": 12, "final": 17}),
        ("epochs exhausted", 0, 30, {"0": 0, "8": 8, "20": 20, "final": 30}),
        # Moments before it diverged are kept.
        ("diverged", 7, 11, {"0": 0, "8": 8, "met+0": 7}),
        ("diverged", 7, 12, {"0": 0, "8": 8, "met+0": 7}),
        ("diverged", 7, 13, {"0": 0, "8": 8, "met+0": 7, "met+5": 12}),
        ("diverged", 0, 8, {"0": 0}),
    ],
)
def test_moments_that_were_reached_have_their_name_and_epoch(reason, met, end, reached):
    outcome = pd.Series({"reason": reason, "met_epoch": met, "epoch": end})
    kept = kept_moments((0, 8, 20, "met+0", "met+5", "final"), outcome)
    assert {one.at: one.epoch for one in kept} == reached
    assert [one.key for one in kept] == [KEYS[at] for at in reached]
