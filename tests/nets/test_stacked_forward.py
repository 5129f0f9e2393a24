"""A stack of nets computes what torch.nn computes for each member alone."""

import pytest
import torch
from net_stacks import convolutional, dense, stacked
from torch import nn
from torch.nn.functional import conv2d, max_pool2d

PADDED = {"channels": 4, "kernel": 3, "padding": 1, "pool": 2}
STRIDED = {"channels": 5, "kernel": 3, "stride": 2}

CASES = {
    "dense": (dense(6, 5), (1, 2, 4), 3),
    "dense with biases": (dense(6, 5, bias=True), (1, 2, 4), 3),
    "no hidden layer": (dense(bias=True), (1, 2, 4), 3),
    "one output": (dense(6, bias=True), (3, 2, 2), 1),
    "convolution": (convolutional({"channels": 4, "kernel": 3}), (2, 8, 8), 3),
    "padding and pool": (convolutional(PADDED, hidden=(6,)), (2, 8, 8), 3),
    "a pool that leaves a rest": (convolutional(PADDED), (2, 9, 9), 3),
    "stride": (convolutional(PADDED, STRIDED), (2, 10, 10), 3),
    "stride that leaves a rest": (convolutional(STRIDED), (1, 8, 8), 1),
    "global pool": (convolutional(PADDED, STRIDED, global_pool=True), (2, 10, 10), 3),
    "convolution without biases": (convolutional(PADDED, hidden=(6,), bias=False), (2, 8, 8), 3),
}


def torch_twin(spec, parameters, member):
    """The net of `spec` with this member's weights; every shape is the weights' own."""
    modules = []
    for number, stage in enumerate(getattr(spec, "stages", ()), start=1):
        outputs, inputs, kernel, _ = parameters[f"conv{number}.weight"].shape[1:]
        convolution = nn.Conv2d(inputs, outputs, kernel, stage.stride, stage.padding)
        _load(convolution, parameters, f"conv{number}", member)
        modules += [convolution, nn.ReLU(), nn.MaxPool2d(stage.pool)]
    if getattr(spec, "global_pool", False):
        modules.append(nn.AdaptiveAvgPool2d(1))
    modules.append(nn.Flatten())
    for number in range(1, len(spec.hidden) + 2):
        inputs, outputs = parameters[f"fc{number}.weight"].shape[1:]
        linear = nn.Linear(inputs, outputs)
        _load(linear, parameters, f"fc{number}", member)
        modules += [linear, nn.ReLU()]
    return nn.Sequential(*modules[:-1])


def _load(module, parameters, name, member):
    weight = parameters[f"{name}.weight"][member]
    module.weight = nn.Parameter(weight.T if weight.dim() == 2 else weight)
    bias = parameters.get(f"{name}.bias")
    module.bias = None if bias is None else nn.Parameter(bias[member])


@pytest.mark.parametrize("case", CASES)
def test_forward_equals_torch_modules(case):
    """As a whole, and when it is split below any dense layer's pre-activations."""
    spec, input_shape, outputs = CASES[case]
    net, parameters, images = stacked(spec, input_shape, outputs)
    assert {name: tuple(value.shape[1:]) for name, value in parameters.items()} == net.shapes
    logits = net.forward(parameters, images)
    assert logits.shape == (3, 7, outputs)
    with torch.inference_mode():
        assert torch.equal(net.forward(parameters, images), logits)
    for member in range(3):
        alone = torch_twin(spec, parameters, member)(images[member])
        torch.testing.assert_close(logits[member], alone, rtol=1e-12, atol=1e-12)
    for layer in net.dense_layers:
        activity = net.into(parameters, images, layer.name)
        assert activity.shape[-1] == layer.inputs
        above = net.logits_from(parameters, layer.preactivation(parameters, activity), layer.name)
        torch.testing.assert_close(above, logits, rtol=0, atol=0)


def test_a_residual_stage_adds_its_images_before_the_relu():
    stages = {"channels": 4, "kernel": 3, "padding": 1}, {**PADDED, "skip": True}
    net, parameters, images = stacked(convolutional(*stages, hidden=(6,)), (2, 8, 8), 3)
    for member in range(3):
        w = {name: value[member] for name, value in parameters.items()}
        first = conv2d(images[member], w["conv1.weight"], w["conv1.bias"], padding=1).relu()
        z = conv2d(first, w["conv2.weight"], w["conv2.bias"], padding=1) + first
        features = max_pool2d(z.relu(), 2).flatten(1)
        hidden = (features @ w["fc1.weight"] + w["fc1.bias"]).relu()
        expected = hidden @ w["fc2.weight"] + w["fc2.bias"]
        torch.testing.assert_close(net.forward(parameters, images)[member], expected)


def test_masks_multiply_the_activity_that_leaves_a_layer():
    net, parameters, images = stacked(dense(6, 5, bias=True), (1, 2, 4), 3)
    mask = (torch.rand(3, 7, 6) < 0.5).double() / 0.5
    masked = net.forward(parameters, images, {"fc1": mask})
    above = net.into(parameters, images, "fc2") * mask
    z = net.dense("fc2").preactivation(parameters, above)
    torch.testing.assert_close(masked, net.logits_from(parameters, z, "fc2"), rtol=0, atol=0)
    assert not torch.equal(masked, net.forward(parameters, images))
