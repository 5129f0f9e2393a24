"""Training as a whole: the plain loop that it equals, its history, and what does not change it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from plain_training import sgd
from short_runs import CONVOLUTIONAL, DROPOUT, assert_same, optimizer, run, samples, trained

from flatlas.training.resume import Resume
from flatlas.training.trainer import train


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


def test_one_draw_for_all_is_as_good_as_three_equal_ones(tmp_path):
    spec = run(**DROPOUT, checkpoints=(1,))
    three, one = (replace(samples(seeds), seeds=(0, 1, 2)) for seeds in ((0, 0, 0), (0,)))
    first = trained(spec, three, tmp_path / "three")
    assert_same(first, trained(spec, one, tmp_path / "one"))
    # All on the same images: the weights differ by seed.
    assert (first.weights["final/fc1.weight"][0] != first.weights["final/fc1.weight"][1]).any()


@pytest.mark.parametrize(
    "chosen",
    [
        DROPOUT,
        optimizer("entropy_sgd", noise=0.1),
        {"learners": {"kind": "dpsgd", "count": 3}, "batch": 2},
    ],
    ids=["dropout", "entropy_sgd", "learners"],
)
def test_a_realization_does_not_depend_on_the_others_in_the_stack(tmp_path, chosen):
    """Up to rounding: a matrix product may sum a larger stack in another order."""
    stack = trained(run(**chosen), samples(), tmp_path / "stack")
    alone = trained(run(**chosen, seeds=(1,)), samples((1,)), tmp_path / "alone")
    for name, value in alone.weights.items():
        np.testing.assert_allclose(stack.weights[name][1], value[0], atol=1e-5)
    losses = stack.history[stack.history.seed == 1].train_loss
    np.testing.assert_allclose(losses, alone.history.train_loss, rtol=1e-4)


def loss_and_error(w, images, labels):
    """Loss and error of a net of one layer, by torch's own loss; one output is a binary task."""
    images, labels = torch.from_numpy(images).flatten(1), torch.from_numpy(labels)
    logits = images @ torch.from_numpy(w)
    if logits.shape[1] == 1:
        loss = torch.nn.BCEWithLogitsLoss()(logits[:, 0], labels.float())
        wrong = (logits[:, 0] > 0) != labels.bool()
    else:
        loss = torch.nn.CrossEntropyLoss()(logits, labels)
        wrong = logits.argmax(1) != labels
    return loss.item(), wrong.float().mean().item()


@pytest.mark.parametrize("block", [3, 4096])
@pytest.mark.parametrize(("classes", "outputs"), [(3, 3), (2, 1)])
def test_the_history_ends_at_the_final_weights(tmp_path, monkeypatch, classes, outputs, block):
    """Evaluated at once, or in blocks: 23 training images leave a rest, 9 test images do not."""
    monkeypatch.setattr("flatlas.training.evaluation.DENSE", block)
    data = samples(classes=classes, count=23)
    data.clean[:, ::3] = False
    spec = run(net={"family": "dense", "hidden": ()}, outputs=outputs, stop={"epochs": 20})
    done = trained(spec, data, tmp_path)
    last = done.history[done.history.epoch == 20].reset_index()
    for member in range(3):
        w, clean = done.weights["final/fc1.weight"][member], data.clean[member]
        train = loss_and_error(w, data.inputs[member][clean], data.labels[member][clean])
        test = loss_and_error(w, data.test_inputs[member], data.test_labels[member])
        recorded = last.loc[member, ["train_loss", "train_error", "test_loss", "test_error"]]
        assert recorded.tolist() == pytest.approx([*train, *test], rel=1e-5)
        assert last.weight_norm[member] == pytest.approx(np.linalg.norm(w), rel=1e-5)
        assert last.train_loss[member] < done.history.train_loss[member]


def test_dropout_changes_neither_shuffles_nor_evaluation(tmp_path):
    """At a rate that moves nothing, dropout must leave the losses of every epoch as they were."""
    still, net = optimizer("sgd", lr=1e-30), {"family": "dense", "hidden": (8, 6)}
    dropped, plain = (
        trained(run(net=net | {"dropout": share}, **still), samples(), tmp_path / f"{share}")
        for share in (0.2, 0.0)
    )
    assert_same(dropped, plain)


def test_progress_is_reported_for_every_epoch(tmp_path):
    """Progress has the mean loss of the members in training, which end one after the other."""
    reports = []
    spec = run(stop={"epochs": 60, "loss_below": 0.5, "extra_epochs": 1})

    def report(*epochs, **facts):
        reports.append((*epochs, facts))

    done = train(spec, samples(), Resume(tmp_path), report)
    assert done.outcomes["epoch"].nunique() > 1
    last = int(done.outcomes["epoch"].max())
    assert [report[:2] for report in reports] == [(epoch, 61) for epoch in range(1, last + 1)]
    assert (reports[0][2]["ended"], reports[-1][2]["ended"]) == ("0/3", "3/3")
    losses = done.history.groupby("epoch")["train_loss"].mean()
    shown = [float(facts["loss"]) for _, _, facts in reports]
    assert shown == pytest.approx(losses.loc[1:].tolist(), rel=0.01)
