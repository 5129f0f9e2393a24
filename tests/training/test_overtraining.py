"""Weights kept so long after the stopping rule was met, and the α-scaling of a layer there."""

import numpy as np
import pytest
from pydantic import ValidationError
from short_runs import assert_same, run, samples, trained

from flatlas.training.resume import Resume
from flatlas.training.trainer import Trainer

STOP = {"epochs": 60, "loss_below": 0.5, "extra_epochs": 5}
NAMES = ("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias", "fc3.weight", "fc3.bias")


def test_kept_weights_are_those_of_a_run_that_ends_there(tmp_path):
    kept = trained(run(stop=STOP, overtraining=(0, 2, 5)), samples(), tmp_path / "kept")
    assert kept.outcomes.met_epoch.nunique() > 1
    for beyond in (0, 2, 5):
        stop = STOP | {"extra_epochs": beyond}
        short = trained(run(stop=stop), samples(), tmp_path / f"{beyond}")
        for name in NAMES:
            there = kept.weights[f"met+{beyond:05d}/{name}"]
            # Who is still in the stack may move the last bit.
            np.testing.assert_allclose(there, short.weights[f"final/{name}"], atol=1e-6)


def test_a_member_that_never_meets_the_rule_keeps_nothing_of_after_it(tmp_path):
    data = samples()
    data.labels[1] = np.random.default_rng(0).permutation(data.labels[1])
    spec = run(stop=STOP | {"epochs": 12}, overtraining=(1,))
    done = trained(spec, data, tmp_path)
    assert done.outcomes.converged.tolist() == [True, False, True]
    told = np.isfinite(done.weights["met+00001/fc1.weight"]).all((1, 2))
    assert told.tolist() == [True, False, True]


def test_scaling_changes_weights_and_gradients_but_not_what_the_net_says(tmp_path):
    """Until the epoch of the scaling all is as without it; in it, only the two layers differ."""
    spec = run(stop=STOP, overtraining=(2, 3, 4))
    plain = trained(spec, samples(), tmp_path / "plain")
    rescaling = {"layer": "fc2", "factor": 3.0, "after": 3}
    scaled = trained(
        run(stop=STOP, overtraining=(2, 3, 4), rescaling=rescaling), samples(), tmp_path / "scaled"
    )
    factors = {"fc2.weight": 3.0, "fc2.bias": 3.0, "fc3.weight": 1 / 3}
    for name in NAMES:
        for moment, factor in (("met+00002", 1.0), ("met+00003", factors.get(name, 1.0))):
            expected = factor * plain.weights[f"{moment}/{name}"]
            np.testing.assert_allclose(scaled.weights[f"{moment}/{name}"], expected, rtol=1e-5)
    later = "met+00004/fc1.weight"
    assert not np.allclose(scaled.weights[later], plain.weights[later], rtol=1e-3)
    losses = [done.history.set_index(["seed", "epoch"]).train_loss for done in (plain, scaled)]
    for one in plain.outcomes.itertuples():
        here = (one.seed, one.met_epoch + 3)
        assert losses[1][here] == pytest.approx(losses[0][here], rel=1e-5)


def test_an_interrupted_training_is_scaled_once(tmp_path, monkeypatch):
    spec = run(
        stop=STOP, overtraining=(3, 5), rescaling={"layer": "fc1", "factor": 2.0, "after": 3}
    )
    whole = trained(spec, samples(), tmp_path / "whole")

    monkeypatch.setattr(Resume, "due", lambda self: True)
    last = int(whole.outcomes.met_epoch.max())
    for end in (last + 2, last + 3, last + 4):
        folder = tmp_path / f"{end}"
        halted = Trainer(spec, samples(), Resume(folder), "cpu")
        while halted.done_epochs < end:
            halted.epoch()
        assert_same(whole, trained(spec, samples(), folder))


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"overtraining": (6,)}, "6 epochs after the rule are more than extra_epochs, 5"),
        ({"rescaling": {"layer": "fc1", "factor": 2.0, "after": 6}}, "more than extra_epochs"),
        (
            {
                "rescaling": {"layer": "fc1", "factor": 2.0, "after": 1},
                "optimizer": {"name": "entropy_sgd"},
            },
            "last iterate",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(chosen, told):
    with pytest.raises(ValidationError, match=told):
        run(stop=STOP, **chosen)


def test_spans_of_epochs_are_spelled_out():
    spec = run(stop=STOP, checkpoints=[0, "4..6", "10..20/5"], overtraining=["0..4/2"])
    assert spec.checkpoints == (0, 4, 5, 6, 10, 15, 20)
    assert spec.overtraining == (0, 2, 4)
    for wrong in ("6..4", "1..5/0", "1-5"):
        with pytest.raises(ValidationError):
            run(checkpoints=[wrong])
