"""Random streams: one for each member and purpose, none of which moves another."""

import pytest
import torch

from flatlas.nets import build_net
from flatlas.plan.families.dense import DenseNet
from flatlas.training.streams import Streams


def net(dropout):
    return build_net(DenseNet(family="dense", hidden=(200, 100), dropout=dropout), (1, 2, 2), 3)


def draws(streams, rows=slice(None)):
    """What the streams of these members and learners draw next: orders, masks and noise."""
    masks = streams.masks(net(0.2), 5, "cpu")["fc2"][rows]
    noise = torch.stack([torch.from_numpy(noise.draw(4)) for noise in streams.langevin[rows]])
    return streams.orders(20), masks, noise


def test_masks_are_for_hidden_layers_and_keep_the_mean_activity():
    masks = Streams((0, 1), range(1)).masks(net(0.2), 50, "cpu")
    assert {name: tuple(mask.shape) for name, mask in masks.items()} == {
        "fc1": (2, 50, 200),
        "fc2": (2, 50, 100),
    }
    for mask in masks.values():
        assert mask.unique().tolist() == pytest.approx([0.0, 1 / 0.8])
        # Within five standard errors of a kept fraction of 0.8.
        assert mask.mean().item() == pytest.approx(1.0, abs=5 * (0.2 / 0.8 / mask.numel()) ** 0.5)
    assert Streams((0,), range(1)).masks(net(0.0), 50, "cpu") == {}


def test_drawing_for_one_purpose_moves_no_other():
    drawn, untouched = Streams((0, 1), range(2)), Streams((0, 1), range(2))
    drawn.masks(net(0.2), 50, "cpu")
    drawn.langevin[0].draw(100)
    assert torch.equal(drawn.orders(20), untouched.orders(20))


def test_each_learner_of_a_member_has_its_own_streams():
    _, masks, noise = draws(Streams((0,), range(3)))
    for drawn in (masks, noise):
        assert len(drawn.flatten(1).unique(dim=0)) == 3


@pytest.mark.parametrize("learners", [1, 2])
def test_what_a_member_draws_does_not_depend_on_the_others(learners):
    together, alone = Streams((4, 7, 9), range(learners)), Streams((9,), range(learners))
    for streams in (together, alone):
        streams.masks(net(0.2), 5, "cpu")
    together.keep([1, 2], learners)
    (orders, *found), (own, *expected) = draws(together, slice(-learners, None)), draws(alone)
    assert torch.equal(orders[-1:], own)
    assert all(map(torch.equal, found, expected))


def test_a_training_that_continues_another_has_other_streams():
    first, second = (draws(Streams((0,), range(1), starts)) for starts in (0, 1))
    assert not any(map(torch.equal, first, second))
