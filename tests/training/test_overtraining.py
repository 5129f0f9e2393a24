"""Weights kept some epochs after the stopping rule was met, and the α-scaling of a layer there."""

import numpy as np
import pytest
from pydantic import ValidationError
from short_runs import NAMES, run, samples, trained

from flatlas.training.moments import kept_moments

STOP = {"epochs": 60, "loss_below": 0.5, "extra_epochs": 5}
SCALING = {"layer": "fc2", "factor": 3.0, "after": 3}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    spec = run(stop=STOP, overtraining=(0, 2, 3, 4, 5))
    return trained(spec, samples(), tmp_path_factory.mktemp("plain"))


def test_kept_weights_are_those_of_a_run_that_ends_there(tmp_path, plain):
    assert plain.outcomes.met_epoch.nunique() > 1
    assert (plain.outcomes.epoch == plain.outcomes.met_epoch + 5).all()
    for beyond in (0, 2, 5):
        stop = STOP | {"extra_epochs": beyond}
        short = trained(run(stop=stop), samples(), tmp_path / f"{beyond}")
        assert short.outcomes.met_epoch.tolist() == plain.outcomes.met_epoch.tolist()
        for name in NAMES:
            kept = plain.weights[f"met+{beyond:05d}/{name}"]
            # The last bit depends on the size of the stack.
            np.testing.assert_allclose(kept, short.weights[f"final/{name}"], atol=1e-6)
            assert (kept != plain.weights["met+00003/" + name]).any()


def test_a_member_that_never_meets_the_rule_keeps_nothing_after_it(tmp_path):
    """Neither weights nor a trajectory."""
    data = samples()
    data.labels[1] = np.random.default_rng(0).permutation(data.labels[1])
    stop = STOP | {"epochs": 12}
    done = trained(run(stop=stop, overtraining=(1,), snapshots="fc1"), data, tmp_path)
    assert done.outcomes.converged.tolist() == [True, False, True]
    for kept in (done.weights["met+00001/fc1.weight"], done.trajectory.array):
        kept = kept.reshape(3, -1)
        assert np.isfinite(kept).all(1).tolist() == [True, False, True]
        assert np.isnan(kept[1]).all()


@pytest.mark.parametrize(("coefficient", "complete"), [(0.0, True), (30.0, False)])
def test_only_a_complete_recording_is_measured(tmp_path, coefficient, complete):
    """A large penalty lets the weights diverge an epoch after the rule was met."""
    stop, at = {"epochs": 1, "extra_epochs": 2}, ("met+0", "final")
    chosen = {"overtraining": (0,), "penalty": {"coefficient": coefficient}, "snapshots": "fc2"}
    done = trained(run(stop=stop, **chosen), samples(), tmp_path)
    for recording, (_, outcome) in zip(
        done.trajectory.array, done.outcomes.iterrows(), strict=True
    ):
        assert outcome.met_epoch == 1
        assert np.isfinite(recording).all() == complete
        measured = kept_moments(at, outcome, recorded=True)
        assert [one.at for one in measured] == (list(at) if complete else [])
        # Weights from before the divergence do not need the recording.
        assert kept_moments(at, outcome)[0].at == "met+0"


def test_scaling_changes_weights_and_gradients_but_not_the_function(tmp_path, plain):
    """Until the epoch of the scaling nothing differs; in it, only the two layers differ."""
    spec = run(stop=STOP, overtraining=(2, 3, 4), rescaling=SCALING)
    scaled = trained(spec, samples(), tmp_path)
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


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        ({"overtraining": (6,)}, "extra_epochs, 5"),
        ({"rescaling": SCALING | {"after": 6}}, "extra_epochs"),
        ({"rescaling": SCALING, "optimizer": {"name": "entropy_sgd"}}, "last iterate"),
    ],
)
def test_contradictions_are_refused(chosen, reason):
    with pytest.raises(ValidationError, match=reason):
        run(stop=STOP, **chosen)


def test_spans_of_epochs_are_lists_of_epochs():
    spec = run(stop=STOP, checkpoints=[0, "4..6", "10..20/5"], overtraining=["0..4/2"])
    assert spec.checkpoints == (0, 4, 5, 6, 10, 15, 20)
    assert spec.overtraining == (0, 2, 4)
    for wrong in ("6..4", "1..5/0", "1-5"):
        with pytest.raises(ValidationError):
            run(checkpoints=[wrong])
