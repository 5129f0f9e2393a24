"""The gradient of the mean loss of a minibatch, for every row of the stack at once."""

from contextlib import AbstractContextManager, nullcontext

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
    """The same by autograd, row by row: grouped convolutions take 1.4 times as long on a CPU.

    With `bfloat16` the products of the layers have that precision (torch's autocast), and images
    have their channels last, the layout for a GPU's tensor cores. The gradient is float32.
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
    """The same numbers, with each row of the stack stored as (batch, height, width, channels)."""
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
