"""The mean loss over given images, as a function of all parameters of a net in one vector."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.nets.loss import sample_losses


@dataclass(frozen=True)
class MeanLoss:
    """L over `inputs` (1, images, channels, height, width) with their `labels` (1, images).

    Logits become losses in float64, whatever weights and images are: of a net that is sure, little
    of 1 − p is left in float32, and of the curvature in the logits, p (1 − p), nothing.
    """

    net: LayeredNet
    inputs: Tensor
    labels: Tensor

    def __call__(self, w: Tensor) -> Tensor:
        """L(w), a number, or one for each member of a stack (members, size)."""
        if not w.requires_grad and self.labels.shape[1] > self.net.at_once:
            return torch.stack([share * part(w) for part, share in self.parts()]).sum(0)
        members = w.shape[:-1].numel()
        inputs = self.inputs.expand(members, *self.inputs.shape[1:])
        logits = self.net.forward(unflattened(self.net, w), inputs)
        labels = self.labels.expand(members, -1)
        return sample_losses(logits.double(), labels).mean(1).view(w.shape[:-1])

    def of(self, images: Tensor) -> "MeanLoss":
        """The same over some of the images."""
        return MeanLoss(self.net, self.inputs[:, images], self.labels[:, images])

    def parts(self) -> Iterator[tuple["MeanLoss", float]]:
        """The same over some images after others, and their shares of it: to bound the memory."""
        count = self.labels.shape[1]
        for some in torch.arange(count, device=self.labels.device).split(self.net.at_once):
            yield self.of(some), len(some) / count


def value_and_gradient(loss: MeanLoss, w: Tensor) -> tuple[Tensor, Tensor]:
    """L and ∇L, of each member of a stack."""
    leaf = w.detach().clone().requires_grad_()
    value, gradient = w.new_zeros(w.shape[:-1]), torch.zeros_like(w)
    for part, share in loss.parts():
        values = part(leaf)
        (slope,) = torch.autograd.grad(values.sum(), leaf)
        value += share * values.detach()
        gradient += share * slope
    return value, gradient


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
