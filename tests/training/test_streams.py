"""Random streams: one for each member and purpose, and none that moves another."""

import numpy as np
import pytest
import torch

from flatlas.nets import build_net
from flatlas.plan.families.dense import DenseNet
from flatlas.training.streams import PURPOSES, Streams


def net(dropout):
    return build_net(DenseNet(family="dense", hidden=(200, 100), dropout=dropout), (1, 2, 2), 3)


def test_shuffles_hold_every_image_once_and_change():
    streams = Streams((0, 1), range(1))
    first, second = streams.orders(20), streams.orders(20)
    for order in (*first, *second):
        assert order.sort().values.tolist() == list(range(20))
    assert not torch.equal(first, second)
    assert not torch.equal(first[0], first[1])


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


def test_no_dropout_draws_nothing():
    assert Streams((0,), range(1)).masks(net(0.0), 50, "cpu") == {}


def test_drawing_for_one_purpose_moves_no_other():
    drawn, untouched = Streams((0, 1), range(2)), Streams((0, 1), range(2))
    drawn.masks(net(0.2), 50, "cpu")
    torch.randn(100, generator=drawn.langevin[0])
    assert torch.equal(drawn.orders(20), untouched.orders(20))


def test_learners_of_a_member_draw_for_themselves():
    streams = Streams((0,), range(3))
    masks = streams.masks(net(0.5), 50, "cpu")["fc1"]
    noise = torch.stack([torch.randn(50, generator=g) for g in streams.langevin])
    for draws in (masks, noise):
        assert len(draws.flatten(1).unique(dim=0)) == 3


@pytest.mark.parametrize("learners", [1, 2])
def test_a_member_draws_the_same_whoever_else_is_there(learners):
    together, alone = Streams((4, 7, 9), range(learners)), Streams((9,), range(learners))
    together.masks(net(0.2), 5, "cpu")
    alone.masks(net(0.2), 5, "cpu")
    together.keep([1, 2], learners)
    last = slice(-learners, None)
    assert torch.equal(together.orders(20)[-1:], alone.orders(20))
    masks, own = (streams.masks(net(0.2), 5, "cpu")["fc2"] for streams in (together, alone))
    assert torch.equal(masks[last], own)
    noise, own = (
        [torch.randn(4, generator=g).tolist() for g in streams.langevin[last]]
        for streams in (together, alone)
    )
    assert noise == own


def test_a_state_takes_every_stream_back():
    streams = Streams((0, 1), range(2))
    streams.orders(20)
    state = streams.state()
    assert set(state) == set(PURPOSES)

    def draws(streams):
        masks = streams.masks(net(0.2), 5, "cpu").values()
        noise = [torch.randn(4, generator=g) for g in streams.langevin]
        return [value.numpy() for value in (streams.orders(20), *masks, *noise)]

    first = draws(streams)
    later = Streams((0, 1), range(2))
    later.restore(state)
    for value, again in zip(first, draws(later), strict=True):
        np.testing.assert_array_equal(value, again)


def test_a_training_that_goes_on_from_another_draws_anew():
    first, second = Streams((0,), range(1)), Streams((0,), range(1), starts=1)
    assert not torch.equal(first.orders(100), second.orders(100))
    masks = (streams.masks(net(0.5), 50, "cpu")["fc1"] for streams in (first, second))
    assert not torch.equal(*masks)
