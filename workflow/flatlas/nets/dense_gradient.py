"""The gradient of the mean loss of dense nets, written out, for every row of a stack at once.

For matrices this small, autograd would cost as much as their products.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.nets.product import product

Masks = Mapping[str, Tensor]


@torch.no_grad()
def dense_gradient(
    net: LayeredNet, parameters: Parameters, inputs: Tensor, labels: Tensor, masks: Masks
) -> Parameters:
    """The gradient for each row's images and labels, with its dropout `masks` by layer."""
    activities = dense_activities(net, parameters, inputs, masks)
    return gradient_from(net, parameters, activities, labels, masks)


def gradient_from(
    net: LayeredNet,
    parameters: Parameters,
    activities: list[Tensor],
    labels: Tensor,
    masks: Masks,
) -> Parameters:
    """The gradient from the activities of a forward pass, which are overwritten."""
    gradients: Parameters = {}
    delta = output_delta(activities.pop(), labels)
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
    """The inputs of a dense net, the activity that leaves each layer, and finally the logits."""
    activities = [inputs.flatten(2)]
    for layer in net.dense_layers:
        z = product(activities[-1], parameters[f"{layer.name}.weight"])
        if layer.bias:
            z += parameters[f"{layer.name}.bias"].unsqueeze(1)
        activity = z.relu_() if layer.relu else z
        activities.append(activity * masks[layer.name] if layer.name in masks else activity)
    return activities


def output_delta(logits: Tensor, labels: Tensor) -> Tensor:
    """The derivative of each row's mean loss with respect to its logits.

    1 is not subtracted from a probability near 1: in float32 that would leave nothing.
    """
    batch = logits.shape[1]
    if logits.shape[-1] == 1:
        signs = 1 - 2 * labels.unsqueeze(-1)
        return signs * (signs * logits).sigmoid() / batch
    # With the classes in the middle torch works along the batch, which is much faster.
    delta = logits.transpose(1, 2).softmax(1).transpose(1, 2)
    delta.scatter_(2, labels.unsqueeze(-1), 0.0)
    delta.scatter_(2, labels.unsqueeze(-1), -delta.sum(2, keepdim=True))
    return delta.div_(batch)
