"""When a realization is done, what its stopping rule sees, and how each end is recorded."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from short_runs import CLASSES, SHAPE, assert_same, optimizer, run, samples, trained

from flatlas.data.samples import Samples
from flatlas.nets import build_net
from flatlas.plan.training_specs import Stop
from flatlas.training.evaluation import Evaluation
from flatlas.training.kept_weights import checkpoint
from flatlas.training.outcome import Outcome


def after(stop, *looks):
    """The outcome after epochs with these (training loss, training error)."""
    outcome = Outcome(seed=0)
    for epoch, (loss, error) in enumerate(looks, start=1):
        outcome.update(Stop(**stop), epoch, Evaluation(loss, error, 9.0, 1.0))
        if outcome.ended:
            break
    return outcome.reason, outcome.met_epoch, outcome.epoch, outcome.converged


LOOKS = [(3.0, 0.5), (1.0, 0.1), (0.4, 0.0), (0.2, 0.0), (0.1, 0.0), (0.05, 0.0)]


@pytest.mark.parametrize(
    ("stop", "outcome"),
    [
        ({"epochs": 4}, ("all epochs run", 4, 4, True)),
        ({"epochs": 4, "extra_epochs": 2}, ("all epochs run", 4, 6, True)),
        ({"epochs": 6, "loss_below": 0.3}, ("rule met", 4, 4, True)),
        ({"epochs": 6, "loss_below": 0.4}, ("rule met", 4, 4, True)),
        ({"epochs": 6, "zero_error": True}, ("rule met", 3, 3, True)),
        ({"epochs": 6, "zero_error": True, "loss_below": 0.3}, ("rule met", 4, 4, True)),
        ({"epochs": 6, "zero_error": True, "loss_below": 2.0}, ("rule met", 3, 3, True)),
        ({"epochs": 4, "loss_below": 0.3}, ("rule met", 4, 4, True)),
        ({"epochs": 3, "loss_below": 0.3}, ("epochs exhausted", 0, 3, False)),
        ({"epochs": 3, "loss_below": 0.3, "extra_epochs": 2}, ("epochs exhausted", 0, 3, False)),
        ({"epochs": 4, "loss_below": 0.3, "extra_epochs": 2}, ("rule met", 4, 6, True)),
        ({"epochs": 6, "loss_below": 0.01, "extra_epochs": 1}, ("epochs exhausted", 0, 6, False)),
    ],
)
def test_each_rule_ends_at_its_epoch(stop, outcome):
    assert after(stop, *LOOKS) == outcome


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_ends_a_training(loss):
    stop = {"epochs": 6, "loss_below": 1.5, "extra_epochs": 3}
    assert after(stop, (2.0, 0.5), (loss, 0.9)) == ("diverged", 0, 2, False)
    assert after(stop, (1.0, 0.5), (loss, 0.9)) == ("diverged", 1, 2, False)


def test_the_rule_stays_met_when_the_loss_rises_again():
    stop = {"epochs": 2, "loss_below": 1.5, "extra_epochs": 2}
    assert after(stop, (1.0, 0.5), (7.0, 0.9), (8.0, 0.9)) == ("rule met", 1, 3, True)


@pytest.mark.parametrize("rule", [{"loss_below": 0.32}, {"zero_error": True}])
def test_wrong_labels_do_not_count(tmp_path, rule):
    """Training sees label noise and attack images, its stopping rule does not.

    Each of three images comes four times, once under a wrong label. The mean loss over all is at
    least the entropy of (3/4, 1/4), 0.562. Over the images that are clean it can come down to
    -ln 3/4 = 0.288, with no error among them.
    """
    images, labels = np.eye(6, dtype=np.float32)[:3].reshape(3, *SHAPE), np.arange(3)
    data = Samples(
        seeds=(0,),
        inputs=np.tile(images, (4, 1, 1, 1))[None],
        labels=np.concatenate([labels, labels, labels, (labels + 1) % CLASSES])[None],
        clean=(np.arange(12) < 9)[None],
        test_inputs=images[None],
        test_labels=labels[None],
    )
    stop = {"epochs": 100} | rule
    spec = run(stop=stop, **optimizer("sgd", lr=0.5), batch="full", seeds=(0,))
    assert trained(spec, data, tmp_path / "clean").outcomes.reason.tolist() == ["rule met"]
    every = replace(data, clean=np.ones_like(data.clean))
    done = trained(spec, every, tmp_path / "all")
    assert done.outcomes.reason.tolist() == ["epochs exhausted"]
    assert done.outcomes[["met_epoch", "epoch", "converged"]].to_numpy().tolist() == [
        [0, 100, False]
    ]
    assert np.isfinite(done.weights["final/fc1.weight"]).all()
    assert done.history.train_loss.min() > 0.562
    assert done.history.train_error.min() == 0.25


def test_the_rule_is_met_at_the_first_epoch_that_meets_it(tmp_path):
    """The history has a row for each member and epoch until then."""
    done = trained(run(stop={"epochs": 60, "loss_below": 0.5}), samples(), tmp_path)
    assert done.outcomes.converged.all()
    assert done.outcomes.epoch.nunique() > 1  # else no member has outlived another
    for outcome in done.outcomes.itertuples():
        losses = done.history[done.history.seed == outcome.seed].set_index("epoch").train_loss
        assert losses.index.tolist() == list(range(outcome.epoch + 1))
        assert losses[outcome.epoch] < 0.5 <= losses[: outcome.epoch - 1].min()
    assert done.history.epoch.is_monotonic_increasing
    assert done.times.epoch.tolist() == list(range(1, done.outcomes.epoch.max() + 1))


@pytest.mark.filterwarnings("ignore:.* encountered in matmul:RuntimeWarning")
def test_a_member_that_diverges_harms_no_other(tmp_path):
    """Images as bright as the largest float make the loss of seed 1 overflow."""
    data = samples()
    bright = replace(data, inputs=data.inputs.copy())
    bright.inputs[1] *= 3e38
    done = trained(run(), bright, tmp_path / "bright")
    assert done.outcomes.reason.tolist() == ["all epochs run", "diverged", "all epochs run"]
    assert done.outcomes.epoch.tolist() == [3, 1, 3]
    assert done.outcomes.converged.tolist() == [True, False, True]
    assert not np.isfinite(done.history[done.history.seed == 1].train_loss.iloc[-1])
    usual = trained(run(), data, tmp_path / "usual")
    found, expected = (one.weights["final/fc1.weight"][[0, 2]] for one in (done, usual))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_test_images_do_not_change_a_training(tmp_path):
    data = samples()
    wrong = replace(data, test_labels=(data.test_labels + 1) % CLASSES)
    spec = run(stop={"epochs": 60, "zero_error": True})
    done, other = trained(spec, data, tmp_path / "a"), trained(spec, wrong, tmp_path / "b")
    pd.testing.assert_frame_equal(done.outcomes, other.outcomes)
    assert_same(done, replace(other, history=done.history))


def test_without_epochs_the_initial_weights_are_the_solution(tmp_path):
    spec, data = run(stop={"epochs": 0}, checkpoints=(0,)), samples()
    untrained = trained(spec, data, tmp_path)
    for name, array in build_net(spec.net, SHAPE, CLASSES).initial(spec.seeds).items():
        for moment in ("final", checkpoint(0)):
            np.testing.assert_array_equal(untrained.weights[f"{moment}/{name}"], array)
    assert untrained.history["epoch"].tolist() == [0, 0, 0]
    assert untrained.outcomes["reason"].tolist() == ["all epochs run"] * 3
    assert untrained.outcomes["converged"].all()
    assert untrained.times.empty


@pytest.mark.parametrize("rule", [{"loss_below": 0.1}, {"zero_error": True}, {"extra_epochs": 2}])
def test_no_epochs_and_a_rule_contradict_each_other(rule):
    with pytest.raises(ValueError, match="0 epochs"):
        Stop(epochs=0, **rule)
