"""Training as a whole: the plain loop it stands for, its history, what it must not depend on."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from plain_training import sgd
from short_runs import assert_same, quiet, run, samples, trained

from flatlas.training import trainer
from flatlas.training.resume import Resume
from flatlas.training.trainer import train

CONVOLUTIONAL = {
    "net": {"family": "convolutional", "stages": ({"channels": 3, "kernel": 2},), "hidden": (5,)},
    "input_shape": (2, 4, 4),
}


@pytest.mark.parametrize("batch", [5, 100, "full"])
@pytest.mark.parametrize("other", [{}, CONVOLUTIONAL], ids=["dense", "convolutional"])
def test_every_member_follows_the_plain_loop(tmp_path, batch, other):
    """24 images in fives leave a last minibatch of four; a full batch is gradient descent."""
    spec = run(batch=batch, **other)
    data = samples(shape=spec.input_shape)
    weights = trained(spec, data, tmp_path).weights
    for member, seed in enumerate(spec.seeds):
        for name, value in sgd(spec, data.of(seed), seed).items():
            np.testing.assert_allclose(weights[f"final/{name}"][member], value, atol=1e-5)


def test_the_same_seeds_leave_the_same_bytes(tmp_path):
    spec = run(net={"family": "dense", "hidden": (8, 6), "dropout": 0.2}, checkpoints=(1,))
    assert_same(
        trained(spec, samples(), tmp_path / "one"), trained(spec, samples(), tmp_path / "two")
    )


def test_another_seed_leaves_other_weights(tmp_path):
    data = samples((0, 0))
    spec = run(seeds=(0, 5))
    weights = trained(spec, data, tmp_path).weights["final/fc1.weight"]
    assert (weights[0] != weights[1]).any()


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"net": {"family": "dense", "hidden": (8, 6), "dropout": 0.2}},
        {"optimizer": {"name": "entropy_sgd", "noise": 0.1}},
        {"learners": {"kind": "dpsgd", "count": 3}, "batch": 2},
        CONVOLUTIONAL,
    ],
    ids=["sgd", "dropout", "entropy_sgd", "learners", "convolutional"],
)
def test_a_realization_does_not_depend_on_who_else_is_in_the_stack(tmp_path, chosen):
    """Up to rounding: a matrix product may sum a larger stack in another order."""
    spec, one = run(**chosen), run(**chosen, seeds=(1,))
    stack = trained(spec, samples(shape=spec.input_shape), tmp_path / "stack")
    alone = trained(one, samples((1,), shape=spec.input_shape), tmp_path / "alone")
    for name, value in alone.weights.items():
        np.testing.assert_allclose(stack.weights[name][1], value[0], atol=1e-5)
    losses = stack.history[stack.history.seed == 1].train_loss
    np.testing.assert_allclose(losses, alone.history.train_loss, rtol=1e-4)


def test_one_draw_for_all_is_as_good_as_a_copy_for_each(tmp_path):
    shared = samples((0,))
    copies = samples((0, 0, 0))
    assert_same(
        trained(run(), replace(shared, seeds=(0, 1, 2)), tmp_path / "shared"),
        trained(run(), replace(copies, seeds=(0, 1, 2)), tmp_path / "copies"),
    )


def test_the_history_has_a_row_for_each_epoch_and_member(tmp_path):
    done = trained(run(stop={"epochs": 60, "loss_below": 0.5}), samples(), tmp_path)
    rows = list(zip(done.history.epoch, done.history.seed, strict=True))
    ends = zip(done.outcomes.seed, done.outcomes.epoch, strict=True)
    assert sorted(rows) == sorted((e, seed) for seed, end in ends for e in range(end + 1))
    assert done.history.epoch.is_monotonic_increasing
    assert done.times.epoch.tolist() == list(range(1, done.outcomes.epoch.max() + 1))


def loss_and_error(w, images, labels):
    """Of a net of one layer, by torch's own loss; one output is a binary task."""
    images, labels = torch.from_numpy(images).flatten(1), torch.from_numpy(labels)
    logits = images @ torch.from_numpy(w)
    if logits.shape[1] == 1:
        loss = torch.nn.BCEWithLogitsLoss()(logits[:, 0], labels.float())
        wrong = (logits[:, 0] > 0) != labels.bool()
    else:
        loss = torch.nn.CrossEntropyLoss()(logits, labels)
        wrong = logits.argmax(1) != labels
    return loss.item(), wrong.float().mean().item()


@pytest.mark.parametrize(("classes", "outputs"), [(3, 3), (2, 1)])
def test_the_history_ends_at_the_final_weights(tmp_path, classes, outputs):
    data = samples(classes=classes)
    data.clean[:, ::3] = False
    spec = run(net={"family": "dense", "hidden": ()}, outputs=outputs, stop={"epochs": 20})
    done = trained(spec, data, tmp_path)
    last = done.history[done.history.epoch == 20].reset_index()
    for member in range(3):
        w, clean = done.weights["final/fc1.weight"][member], data.clean[member]
        train = loss_and_error(w, data.inputs[member][clean], data.labels[member][clean])
        test = loss_and_error(w, data.test_inputs[member], data.test_labels[member])
        told = last.loc[member, ["train_loss", "train_error", "test_loss", "test_error"]]
        assert told.tolist() == pytest.approx([*train, *test], rel=1e-5)
        assert last.weight_norm[member] == pytest.approx(np.linalg.norm(w), rel=1e-5)
        assert last.train_loss[member] < done.history.train_loss[member]


@pytest.mark.parametrize("count", [23, 24])
def test_evaluation_in_blocks_is_evaluation(tmp_path, count, monkeypatch):
    data = samples(count=count)
    data.clean[:, ::3] = False
    whole = trained(run(), data, tmp_path / "whole").history
    monkeypatch.setattr("flatlas.training.evaluation.DENSE", 4)
    blocks = trained(run(), data, tmp_path / "blocks").history
    np.testing.assert_allclose(blocks, whole, rtol=1e-5)


def test_dropout_leaves_no_image_out_of_the_shuffles_and_no_mask_on_the_evaluation(tmp_path):
    """With a rate that moves nothing, dropout must leave the losses of every epoch as they were."""
    still = {"optimizer": {"name": "sgd", "lr": 1e-30}}
    net = {"family": "dense", "hidden": (8, 6)}
    dropped = trained(run(net=net | {"dropout": 0.5}, **still), samples(), tmp_path / "dropped")
    plain = trained(run(net=net, **still), samples(), tmp_path / "plain")
    assert_same(dropped, plain)


def test_progress_tells_of_every_epoch(tmp_path):
    told = []
    spec = run(stop={"epochs": 60, "loss_below": 0.5, "extra_epochs": 1})
    done = train(
        spec,
        samples(),
        Resume(tmp_path),
        lambda done, most, **facts: told.append((done, most, facts["ended"])),
    )
    last = int(done.outcomes.epoch.max())
    assert [epoch for epoch, _, _ in told] == list(range(1, last + 1))
    assert {most for _, most, _ in told} == {61}
    assert told[0][2] == "0/3"
    assert told[-1][2] == "3/3"


def test_a_training_that_ends_at_once_leaves_all_it_should(tmp_path):
    spec = run(stop={"epochs": 5, "loss_below": 100.0})
    done = trainer.train(spec, samples(), Resume(tmp_path), quiet)
    assert done.outcomes.epoch.tolist() == [1, 1, 1]
    assert set(done.weights) == {
        f"final/fc{n}.{kind}" for n in (1, 2, 3) for kind in ("weight", "bias")
    }
