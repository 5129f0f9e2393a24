"""The gradient of the mean loss of a minibatch, for every row of the stack at once."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.nets.loss import sample_losses
from flatlas.training.product import product

Masks = Mapping[str, Tensor]


def gradient(
    net: LayeredNet,
    parameters: Parameters,
    inputs: Tensor,
    labels: Tensor,
    masks: Masks,
    bfloat16: bool = False,
) -> Parameters:
    """By hand for dense nets, by autograd for the others; a test holds them against each other."""
    if net.only_dense:
        return dense_gradient(net, parameters, inputs, labels, masks)
    return autograd_gradient(net, parameters, inputs, labels, masks, bfloat16)


def autograd_gradient(
    net: LayeredNet,
    parameters: Parameters,
    inputs: Tensor,
    labels: Tensor,
    masks: Masks,
    bfloat16: bool = False,
) -> Parameters:
    """One row after another: on a CPU a stack's grouped convolutions take 1.4 times as long.

    With `bfloat16` the layers' products are taken with so many bits (torch's autocast), of images
    whose channels lie last, as a GPU's tensor cores want them. The gradient is float32.
    """
    rounding = torch.autocast(inputs.device.type, torch.bfloat16) if bfloat16 else nullcontext()
    images = channels_last(inputs) if bfloat16 else inputs
    rows = [
        _row_gradient(
            net,
            {name: value[row : row + 1] for name, value in parameters.items()},
            images[row : row + 1],
            labels[row : row + 1],
            {name: mask[row : row + 1] for name, mask in masks.items()},
            rounding,
        )
        for row in range(len(inputs))
    ]
    return {name: torch.cat([row[name] for row in rows]) for name in parameters}


def channels_last(images: Tensor) -> Tensor:
    """The same numbers; a stack's rows lie in memory as (batch, height, width, channels)."""
    return images.movedim(2, -1).contiguous().movedim(-1, 2)


def _row_gradient(
    net: LayeredNet,
    parameters: Parameters,
    inputs: Tensor,
    labels: Tensor,
    masks: Masks,
    rounding: AbstractContextManager[object],
) -> Parameters:
    leaves = {name: value.detach().requires_grad_() for name, value in parameters.items()}
    with rounding:
        logits = net.forward(leaves, inputs, masks)
    loss = sample_losses(logits.to(inputs), labels).mean()
    found = torch.autograd.grad(loss, list(leaves.values()))
    return dict(zip(leaves, found, strict=True))


@torch.no_grad()
def dense_gradient(
    net: LayeredNet, parameters: Parameters, inputs: Tensor, labels: Tensor, masks: Masks
) -> Parameters:
    """Backpropagation written out: on matrices this small autograd costs as much as they do."""
    activities = dense_activities(net, parameters, inputs, masks)
    gradients: Parameters = {}
    delta = _output_delta(activities.pop(), labels)
    for layer in reversed(net.dense_layers):
        below = activities.pop()
        gradients[f"{layer.name}.weight"] = product(below.transpose(1, 2), delta)
        if layer.bias:
            gradients[f"{layer.name}.bias"] = delta.sum(1)
        if activities:
            delta = product(delta, parameters[f"{layer.name}.weight"].transpose(1, 2))
            delta.mul_(below > 0)
            name = net.dense_layers[len(activities) - 1].name
            if name in masks:
                delta.mul_(masks[name])
    return {name: gradients[name] for name in parameters}


def dense_activities(
    net: LayeredNet, parameters: Parameters, inputs: Tensor, masks: Masks
) -> list[Tensor]:
    """The inputs of a dense net, the activity that leaves each layer, and last the logits."""
    activities = [inputs.flatten(2)]
    for layer in net.dense_layers:
        z = product(activities[-1], parameters[f"{layer.name}.weight"])
        if layer.bias:
            z += parameters[f"{layer.name}.bias"].unsqueeze(1)
        activity = z.relu_() if layer.relu else z
        activities.append(activity * masks[layer.name] if layer.name in masks else activity)
    return activities


def _output_delta(logits: Tensor, labels: Tensor) -> Tensor:
    """The derivative of each row's mean loss by its logits."""
    batch = logits.shape[1]
    if logits.shape[-1] == 1:
        return (logits.sigmoid() - labels.unsqueeze(-1)) / batch
    # With the classes in the middle torch goes along the batch, which is far quicker.
    delta = logits.transpose(1, 2).softmax(1).transpose(1, 2)
    delta.scatter_add_(2, labels.unsqueeze(-1), torch.full_like(delta[..., :1], -1.0))
    return delta.div_(batch)
