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
def test_scaling_two_layers_keeps_outputs_and_the_given_weights(case, per_neuron):
    spec, layer, outputs = CASES[case]
    net, parameters, images = stacked(spec, (1, 8, 8), outputs)
    given = {name: tensor.clone() for name, tensor in parameters.items()}
    neurons = net.dense(layer).outputs
    factor = torch.linspace(0.1, 9, neurons, dtype=torch.float64) if per_neuron else 5.9
    scaled = rescaled(net, parameters, layer, factor)
    logits = net.forward(parameters, images)
    torch.testing.assert_close(net.forward(scaled, images), logits, rtol=1e-12, atol=1e-13)
    changed = {f"{layer}.weight", f"{layer}.bias", f"{net.after(layer)[0].name}.weight"}
    for name, tensor in parameters.items():
        assert torch.equal(tensor, given[name])
        assert torch.equal(scaled[name], tensor) == (name not in changed)
    torch.testing.assert_close(scaled[f"{layer}.weight"], factor * given[f"{layer}.weight"])


def test_the_last_layer_has_no_layer_to_scale_against():
    net, parameters, _ = stacked(dense(6, 5), (1, 2, 4), 3)
    with pytest.raises(FlatlasError, match=r"'fc3'.*Allowed: fc1, fc2"):
        rescaled(net, parameters, "fc3", 2.0)
