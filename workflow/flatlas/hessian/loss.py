"""The mean loss over given images, as a function of all parameters of a net in one vector."""

from dataclasses import dataclass

import torch
from torch import Tensor

from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.nets.loss import sample_losses


@dataclass(frozen=True)
class MeanLoss:
    """L over `inputs` (1, images, channels, height, width) with their `labels` (1, images)."""

    net: LayeredNet
    inputs: Tensor
    labels: Tensor

    def __call__(self, w: Tensor) -> Tensor:
        """L(w), a number, or one for each member of a stack (members, size)."""
        members = w.shape[:-1].numel()
        inputs = self.inputs.expand(members, *self.inputs.shape[1:])
        logits = self.net.forward(unflattened(self.net, w), inputs)
        labels = self.labels.expand(members, -1)
        return sample_losses(logits, labels).mean(1).view(w.shape[:-1])

    def of(self, images: Tensor) -> "MeanLoss":
        """The same over some of the images."""
        return MeanLoss(self.net, self.inputs[:, images], self.labels[:, images])


def flattened(net: LayeredNet, parameters: Parameters) -> Tensor:
    """w (members, size): the parameters in the order of the net's shapes."""
    return torch.cat([parameters[name].flatten(1) for name in net.shapes], dim=1)


def unflattened(net: LayeredNet, w: Tensor) -> Parameters:
    """The stack of parameters from w, which may be that of a single member."""
    shapes = net.shapes
    parts = w.split([torch.Size(shape).numel() for shape in shapes.values()], dim=-1)
    return {
        name: part.view(-1, *shape)
        for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }
