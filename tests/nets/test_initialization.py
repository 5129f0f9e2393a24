"""Initial weights: bounds and moments by formula, and each member from its seed alone."""

from math import sqrt

import pytest
import torch
from net_stacks import convolutional, dense

from flatlas.nets import build_net

N_IN, N_OUT = 200, 300
GLOROT, LECUN = sqrt(6 / (N_IN + N_OUT)), 1 / sqrt(N_IN)
XAVIER, FRAMEWORK = {"scheme": "xavier_uniform"}, {"scheme": "framework_uniform"}
HE, SCALED = {"scheme": "he_normal"}, {"scheme": "scaled_normal"}


def first_layer(init):
    net = build_net(dense(N_OUT, bias=True, init=init), (1, 1, N_IN), 10)
    parameters = net.initial((0,))
    return parameters["fc1.weight"][0], parameters["fc1.bias"][0]


def assert_uniform(values, bound):
    """All of [-bound, bound] and nothing else, with the variance bound²/3 of the uniform law."""
    assert values.abs().max() <= bound
    if bound == 0:
        return
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


@pytest.mark.parametrize(
    ("init", "law", "of_weights", "of_biases"),
    [
        (XAVIER, assert_uniform, GLOROT, 0),
        (XAVIER | {"scale": 3.0}, assert_uniform, 3 * GLOROT, 0),
        (FRAMEWORK, assert_uniform, LECUN, LECUN),
        (FRAMEWORK | {"scale": 2.0}, assert_uniform, 2 * LECUN, 2 * LECUN),
        (HE | {"bias_std": 1.0}, assert_normal, sqrt(2) * LECUN, 1.0),
        (HE | {"bias_std": 0.1}, assert_normal, sqrt(2) * LECUN, 0.1),
        # By default that of the Boolean system.
        (SCALED, assert_normal, LECUN, 0.1),
        (SCALED | {"weight_std": 2.5, "bias_std": 1.0}, assert_normal, 2.5 * LECUN, 1.0),
    ],
)
def test_weights_and_biases_follow_their_law(init, law, of_weights, of_biases):
    weight, bias = first_layer(init)
    law(weight, of_weights)
    law(bias, of_biases)


@pytest.mark.parametrize(
    ("init", "bound"), [(XAVIER, sqrt(6 / (20 * 9 + 30 * 9))), (FRAMEWORK, 1 / sqrt(20 * 9))]
)
def test_a_kernel_counts_its_pixels_as_inputs(init, bound):
    stages = {"channels": 20, "kernel": 1}, {"channels": 30, "kernel": 3}
    net = build_net(convolutional(*stages, init=init), (1, 4, 4), 10)
    assert_uniform(net.initial((0,))["conv2.weight"], bound)


def test_framework_uniform_has_the_law_of_torch():
    torch.manual_seed(0)
    linear = torch.nn.Linear(N_IN, N_OUT)
    assert_uniform(linear.weight.detach(), LECUN)
    assert_uniform(linear.bias.detach(), LECUN)


@pytest.mark.parametrize("init", [XAVIER, FRAMEWORK, HE, SCALED])
def test_a_member_depends_on_its_seed_alone(init):
    """Neither on the other members nor on torch's global stream."""
    net = build_net(dense(4, bias=True, init=init), (1, 2, 2), 3)
    torch.manual_seed(7)
    stack = net.initial((5, 0, 9))
    torch.manual_seed(8)
    for name, value in net.initial((9,)).items():
        assert torch.equal(stack[name][2], value[0])
    assert not torch.equal(stack["fc1.weight"][0], stack["fc1.weight"][1])
