"""Layers are addressed by name, and what a net cannot have is refused."""

import pytest
from net_stacks import convolutional

from flatlas.errors import FlatlasError
from flatlas.nets import build_net

STAGE = {"channels": 2, "kernel": 3}


def test_layers_are_numbered_from_the_input():
    net = build_net(convolutional(STAGE, STAGE, hidden=(5, 4)), (1, 9, 9), 3)
    assert [layer.name for layer in net.layers] == ["conv1", "conv2", "fc1", "fc2", "fc3"]
    assert [layer.name for layer in net.after("fc1")] == ["fc2", "fc3"]
    assert net.after("fc3") == ()
    assert [layer.relu for layer in net.dense_layers] == [True, True, False]


@pytest.mark.parametrize(
    ("layer", "answer"),
    [("fc3", r"no layer.*fc1, fc2\. Did you mean 'fc"), ("conv1", r"a convolution.*fc1, fc2\.")],
)
def test_the_error_for_a_name_that_is_no_dense_layer_lists_the_dense_layers(layer, answer):
    net = build_net(convolutional(STAGE, hidden=(5,)), (1, 9, 9), 3)
    with pytest.raises(FlatlasError, match=f"'{layer}' is {answer}"):
        net.dense(layer)


@pytest.mark.parametrize(
    ("stage", "reason"),
    [
        ({"kernel": 9}, "leaves no pixel.*side 8"),
        ({"pool": 7}, "leaves no pixel.*side 8"),
        ({"skip": True}, "can't skip: 2 channels of side 8"),
        ({"skip": True, "channels": 3, "kernel": 1}, "can't skip: 2 channels of side 8"),
    ],
)
def test_a_stage_that_does_not_fit_is_refused(stage, reason):
    with pytest.raises(FlatlasError, match=rf"net\.stages\.1 {reason}"):
        build_net(convolutional(STAGE, STAGE | stage), (1, 10, 10), 3)


def test_a_single_pixel_is_enough():
    net = build_net(convolutional({"channels": 2, "kernel": 5, "pool": 2}), (1, 6, 6), 3)
    assert net.dense("fc1").inputs == 2


def test_a_convolutional_net_refuses_images_that_are_not_square():
    with pytest.raises(FlatlasError, match="not 1 x 7"):
        build_net(convolutional({"channels": 2, "kernel": 1}), (1, 1, 7), 3)
