"""Dense layers are addressed by name; a wrong name gets an answer that helps."""

import pytest
from net_stacks import convolutional, dense

from flatlas.errors import FlatlasError
from flatlas.nets import build_net

STAGE = {"channels": 2, "kernel": 3}


def test_layers_are_numbered_from_the_input():
    net = build_net(convolutional(STAGE, STAGE, hidden=(5, 4)), (1, 9, 9), 3)
    assert [layer.name for layer in net.layers] == ["conv1", "conv2", "fc1", "fc2", "fc3"]
    assert [layer.name for layer in net.after("fc1")] == ["fc2", "fc3"]
    assert net.after("fc3") == ()


def test_only_the_last_dense_layer_has_no_relu():
    net = build_net(dense(5, 4), (1, 2, 2), 3)
    assert [net.dense(name).relu for name in ("fc1", "fc2", "fc3")] == [True, True, False]


def test_an_unknown_layer_is_named_with_those_there_are():
    net = build_net(dense(5), (1, 2, 2), 3)
    with pytest.raises(FlatlasError, match=r"'fc3' is no layer.*fc1, fc2\. Did you mean 'fc"):
        net.dense("fc3")


def test_a_convolution_is_no_dense_layer():
    net = build_net(convolutional(STAGE), (1, 9, 9), 3)
    with pytest.raises(FlatlasError, match=r"'conv1' is a convolution.*Dense layers: fc1\."):
        net.dense("conv1")


@pytest.mark.parametrize("stage", [{"kernel": 9}, {"kernel": 3, "pool": 7}])
def test_a_stage_that_leaves_no_pixel_is_refused(stage):
    first = {"channels": 2, "kernel": 3}
    with pytest.raises(FlatlasError, match=r"net\.stages\.1 leaves no pixel.*side 8"):
        build_net(convolutional(first, {"channels": 2, **stage}), (1, 10, 10), 3)


def test_a_single_pixel_is_enough():
    net = build_net(convolutional({"channels": 2, "kernel": 5, "pool": 2}), (1, 6, 6), 3)
    assert net.dense("fc1").inputs == 2


def test_a_convolutional_net_refuses_images_that_are_not_square():
    with pytest.raises(FlatlasError, match="square images, not 1 x 7"):
        build_net(convolutional({"channels": 2, "kernel": 1}), (1, 1, 7), 3)


@pytest.mark.parametrize("stage", [{"channels": 3, "kernel": 1}, {"channels": 2, "kernel": 3}])
def test_a_stage_that_can_not_skip_is_refused(stage):
    first = {"channels": 2, "kernel": 3}
    with pytest.raises(FlatlasError, match=r"net\.stages\.1 can't skip: 2 channels of side 8"):
        build_net(convolutional(first, {**stage, "skip": True}), (1, 10, 10), 3)
