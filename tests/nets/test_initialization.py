"""Initial weights: bounds and moments by formula, and each member from its seed alone."""

from math import sqrt

import pytest
import torch
from net_stacks import convolutional, dense

from flatlas.nets import build_net

SHAPE = (1, 1, 200)
N_IN, N_OUT = 200, 300
SCHEMES = ["xavier_uniform", "framework_uniform", "he_normal", "scaled_normal"]


def first_layer(**init):
    net = build_net(dense(N_OUT, bias=True, init=init), SHAPE, 10)
    parameters = net.initial((0,))
    return parameters["fc1.weight"][0], parameters["fc1.bias"][0]


def assert_uniform(values, bound):
    """All of [-bound, bound] and nothing else, with the variance bound²/3 of the uniform law."""
    assert values.abs().max() <= bound
    assert values.max() > 0.97 * bound
    assert values.min() < -0.97 * bound
    # The variance of n squared uniform draws' mean is 4/45 bound⁴ / n.
    spread = 5 * sqrt(4 / 45 / values.numel())
    assert values.square().mean() / bound**2 == pytest.approx(1 / 3, abs=spread)


def assert_normal(values, std):
    """Moments of the normal law, within five standard errors."""
    n = values.numel()
    assert values.mean() / std == pytest.approx(0, abs=5 / sqrt(n))
    assert values.square().mean() / std**2 == pytest.approx(1, abs=5 * sqrt(2 / n))
    assert (values / std).pow(4).mean() == pytest.approx(3, abs=5 * sqrt(96 / n))


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_xavier_uniform(scale):
    weight, bias = first_layer(scheme="xavier_uniform", scale=scale)
    assert_uniform(weight, scale * sqrt(6) / sqrt(N_IN + N_OUT))
    assert not bias.any()


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_framework_uniform(scale):
    weight, bias = first_layer(scheme="framework_uniform", scale=scale)
    assert_uniform(weight, scale / sqrt(N_IN))
    assert_uniform(bias, scale / sqrt(N_IN))


@pytest.mark.parametrize("bias_std", [1.0, 0.1])
def test_he_normal(bias_std):
    weight, bias = first_layer(scheme="he_normal", bias_std=bias_std)
    assert_normal(weight, sqrt(2 / N_IN))
    assert_normal(bias, bias_std)


@pytest.mark.parametrize(("weight_std", "bias_std"), [(1.0, 0.1), (2.5, 1.0)])
def test_scaled_normal(weight_std, bias_std):
    scaled = {"scheme": "scaled_normal", "weight_std": weight_std, "bias_std": bias_std}
    weight, bias = first_layer(**scaled)
    assert_normal(weight, weight_std / sqrt(N_IN))
    assert_normal(bias, bias_std)


def test_scaled_normal_is_that_of_the_boolean_system_by_default():
    weight, bias = first_layer(scheme="scaled_normal")
    assert_normal(weight, 1 / sqrt(N_IN))
    assert_normal(bias, 0.1)


@pytest.mark.parametrize(
    ("init", "bound"),
    [
        ({"scheme": "xavier_uniform"}, sqrt(6 / (20 * 9 + 30 * 9))),
        ({"scheme": "framework_uniform"}, 1 / sqrt(20 * 9)),
    ],
)
def test_a_kernel_counts_its_pixels_as_inputs(init, bound):
    stages = {"channels": 20, "kernel": 1}, {"channels": 30, "kernel": 3}
    net = build_net(convolutional(*stages, init=init), (1, 4, 4), 10)
    assert_uniform(net.initial((0,))["conv2.weight"], bound)


def test_framework_uniform_has_the_law_of_torch():
    weight, bias = first_layer(scheme="framework_uniform")
    torch.manual_seed(0)
    linear = torch.nn.Linear(N_IN, N_OUT)
    assert weight.abs().max() == pytest.approx(linear.weight.abs().max().item(), rel=1e-3)
    assert weight.std() == pytest.approx(linear.weight.std().item(), rel=0.02)
    assert bias.std() == pytest.approx(linear.bias.std().item(), rel=0.2)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_member_does_not_depend_on_who_else_is_there(scheme):
    net = build_net(dense(4, bias=True, init={"scheme": scheme}), (1, 2, 2), 3)
    stack, alone = net.initial((5, 0, 9)), net.initial((9,))
    for name, value in alone.items():
        assert torch.equal(stack[name][2], value[0])
    assert not torch.equal(stack["fc1.weight"][0], stack["fc1.weight"][1])


def test_initial_weights_leave_the_global_stream_alone():
    net = build_net(dense(4), (1, 2, 2), 3)
    torch.manual_seed(7)
    first = net.initial((1,))
    torch.manual_seed(8)
    assert torch.equal(first["fc1.weight"], net.initial((1,))["fc1.weight"])
