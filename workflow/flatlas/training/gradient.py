"""The gradient of the mean loss of a minibatch, for every row of the stack at once."""

import torch
from torch import Tensor

from flatlas.nets.dense_gradient import Masks, dense_gradient
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.nets.loss import sample_losses


def gradient(
    net: LayeredNet,
    parameters: Parameters,
    inputs: Tensor,
    labels: Tensor,
    masks: Masks,
    bfloat16: bool = False,
) -> Parameters:
    """The gradient, written out for dense nets, by autograd for others; a test compares both."""
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
    """The gradient by autograd, row by row: grouped convolutions take 1.4 times as long on a CPU.

    With `bfloat16`, products and the outputs of layers have that precision (torch's autocast). The
    gradient is float32.
    """
    images = net.laid_out(inputs, bfloat16)
    gradients = []
    for row in range(len(inputs)):
        one = slice(row, row + 1)
        leaves = {name: value[one].detach().requires_grad_() for name, value in parameters.items()}
        own_masks = {name: mask[one] for name, mask in masks.items()}
        with torch.autocast(inputs.device.type, torch.bfloat16, enabled=bfloat16):
            logits = net.forward(leaves, images[one], own_masks)
        loss = sample_losses(logits.to(inputs), labels[one]).mean()
        # A module may have parameters that it does not use: their gradient is 0.
        gradients.append(torch.autograd.grad(loss, list(leaves.values()), materialize_grads=True))
    return {
        name: torch.cat(rows)
        for name, rows in zip(parameters, zip(*gradients, strict=True), strict=True)
    }
