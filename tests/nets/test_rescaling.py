"""Other weights, the same function."""

import pytest
import torch
from net_stacks import convolutional, dense, stacked

from flatlas.errors import FlatlasError
from flatlas.nets.rescaling import rescaled

CASES = {
    "first": (dense(6, 5, bias=True), "fc1", 1),
    "second": (dense(6, 5, bias=True), "fc2", 3),
    "no biases": (dense(6, 5), "fc1", 3),
    "after a convolution": (convolutional({"channels": 4, "kernel": 3}, hidden=(6,)), "fc1", 3),
}


@pytest.mark.parametrize("per_neuron", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_outputs_stay(case, per_neuron):
    spec, layer, outputs = CASES[case]
    net, parameters, images = stacked(spec, (1, 8, 8), outputs)
    neurons = net.dense(layer).outputs
    factor = torch.linspace(0.1, 9, neurons, dtype=torch.float64) if per_neuron else 5.9
    scaled = rescaled(net, parameters, layer, factor)
    logits = net.forward(parameters, images)
    torch.testing.assert_close(net.forward(scaled, images), logits, rtol=1e-12, atol=1e-13)
    above = f"{net.after(layer)[0].name}.weight"
    changed = {f"{layer}.weight", f"{layer}.bias", above} & set(parameters)
    for name, tensor in parameters.items():
        assert torch.equal(scaled[name], tensor) == (name not in changed)
    weights = parameters[f"{layer}.weight"]
    torch.testing.assert_close(scaled[f"{layer}.weight"] / weights, factor * (weights / weights))


def test_the_weights_that_were_given_stay():
    net, parameters, _ = stacked(dense(6, 5, bias=True), (1, 2, 4), 3)
    before = {name: tensor.clone() for name, tensor in parameters.items()}
    rescaled(net, parameters, "fc1", 2.0)
    assert all(torch.equal(parameters[name], before[name]) for name in before)


def test_a_factor_and_its_inverse_undo_each_other():
    net, parameters, _ = stacked(dense(6, 5, bias=True), (1, 2, 4), 3)
    back = rescaled(net, rescaled(net, parameters, "fc2", 4.0), "fc2", 0.25)
    for name, tensor in parameters.items():
        assert torch.equal(back[name], tensor)


def test_the_last_layer_has_none_to_scale_against():
    net, parameters, _ = stacked(dense(6, 5), (1, 2, 4), 3)
    with pytest.raises(FlatlasError, match=r"layer 'fc3' is the last.*Allowed: fc1, fc2"):
        rescaled(net, parameters, "fc3", 2.0)
