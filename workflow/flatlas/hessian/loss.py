"""The mean loss over given images, as a function of all parameters of a net in one vector."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from flatlas.nets.dense_gradient import dense_activities, gradient_from
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.nets.loss import sample_losses

# Each block of images reads all weights, and starts every operation. So on a CPU a block has at
# least one image for each WEIGHTS weights, and at least FEW images, even if the caches hold fewer.
WEIGHTS, FEW = 2**15, 10


@dataclass(frozen=True)
class MeanLoss:
    """L over `inputs` (1, images, channels, height, width) with their `labels` (1, images).

    Losses are computed from the logits in float64, even if weights and images are float32: for a
    confident net, float32 keeps little of 1 − p and nothing of p (1 − p), the curvature in the
    logits.
    """

    net: LayeredNet
    inputs: Tensor
    labels: Tensor

    def __call__(self, w: Tensor) -> Tensor:
        """L(w): a number, or one for each member of a stack (members, size)."""
        if not w.requires_grad and self.labels.shape[1] > self._at_once():
            return torch.stack([share * part(w) for part, share in self.parts()]).sum(0)
        members = w.shape[:-1].numel()
        inputs = self.inputs.expand(members, *self.inputs.shape[1:])
        logits = self.net.forward(unflattened(self.net, w), inputs)
        labels = self.labels.expand(members, -1)
        return sample_losses(logits.double(), labels).mean(1).view(w.shape[:-1])

    def of(self, images: Tensor) -> "MeanLoss":
        """The same over some of the images."""
        inputs, labels = (one.index_select(1, images) for one in (self.inputs, self.labels))
        return MeanLoss(self.net, inputs, labels)

    def of_members(self, members: Tensor) -> "MeanLoss":
        """The same for some members of a stack, with the images that belong to them."""
        if len(self.inputs) == 1:
            return self
        return MeanLoss(self.net, self.inputs[members], self.labels[members])

    def on_minibatches(self, drawn: Tensor) -> "MeanLoss":
        """The losses of minibatches (members, batch) of these images, one for each member."""
        return MeanLoss(self.net, self.inputs[0, drawn], self.labels[0, drawn])

    def parts(self, vectors: int = 1) -> Iterator[tuple["MeanLoss", float]]:
        """The same over blocks of images, with their shares of the mean.

        `vectors` is the number of vectors; each needs its own copy of an image's activations.
        """
        count, at_once = self.labels.shape[1], self._at_once(vectors)
        if count <= at_once:
            yield self, 1.0
            return
        for some in torch.arange(count, device=self.labels.device).split(at_once):
            yield self.of(some), len(some) / count

    def _at_once(self, vectors: int = 1) -> int:
        """The images in a block: as many as memory allows, or on a CPU as its caches hold."""
        device = self.labels.device
        most = max(1, self.net.at_once(device) // vectors)
        if device.type != "cpu":
            return most
        weights = sum(torch.Size(shape).numel() for shape in self.net.shapes.values())
        return min(most, max(self.net.cached // vectors, weights // WEIGHTS, FEW))


def value_and_gradient(loss: MeanLoss, w: Tensor) -> tuple[Tensor, Tensor]:
    """L and ∇L of each member of a stack; written out by hand for dense nets."""
    of_part = _by_hand if loss.net.only_dense else _by_autograd
    value, gradient = w.new_zeros(w.shape[:-1], dtype=torch.float64), torch.zeros_like(w)
    for part, share in loss.parts():
        values, slope = of_part(part, w)
        value.add_(values, alpha=share)
        gradient.add_(slope, alpha=share)
    return value, gradient


def _by_autograd(loss: MeanLoss, w: Tensor) -> tuple[Tensor, Tensor]:
    """L and ∇L by autograd, row by row: in float32 grouped convolutions take longer on a CPU."""
    members = w.reshape(-1, w.shape[-1])
    rows = torch.arange(len(members), device=w.device).split(1)
    found = [_of_one(loss.of_members(row), members[row]) for row in rows]
    values, slopes = map(torch.cat, zip(*found, strict=True))
    return values.view(w.shape[:-1]), slopes.view(w.shape)


def _of_one(loss: MeanLoss, w: Tensor) -> tuple[Tensor, Tensor]:
    leaf = w.detach().requires_grad_()
    value = replace(loss, inputs=loss.net.laid_out(loss.inputs))(leaf)
    (slope,) = torch.autograd.grad(value.sum(), leaf)
    return value.detach(), slope


@torch.no_grad()
def _by_hand(loss: MeanLoss, w: Tensor) -> tuple[Tensor, Tensor]:
    """L and ∇L by hand; members that share their images also share the memory."""
    net, parameters = loss.net, unflattened(loss.net, w)
    labels = loss.labels.expand(w.shape[:-1].numel(), -1)
    activities = dense_activities(net, parameters, loss.inputs, masks={})
    values = sample_losses(activities[-1].double(), labels).mean(1)
    gradient = gradient_from(net, parameters, activities, labels, masks={})
    return values.view(w.shape[:-1]), flattened(net, gradient).view(w.shape)


def without_dark_pixels(loss: MeanLoss, w: Tensor) -> tuple[MeanLoss, Tensor]:
    """The loss and weights of a dense net without pixels that are 0 in all images.

    The loss does not depend on the weights of those pixels. Other nets are returned unchanged.
    """
    if not loss.net.only_dense:
        return loss, w
    images = loss.inputs.flatten(2)
    lit = (images != 0).flatten(0, 1).any(0)
    first, *above = loss.net.dense_layers
    weights, rest = w.split(
        [first.inputs * first.outputs, w.shape[-1] - first.inputs * first.outputs], -1
    )
    kept = weights.unflatten(-1, (first.inputs, first.outputs))[..., lit, :].flatten(-2)
    narrow = LayeredNet([replace(first, inputs=int(lit.sum())), *above], loss.net.init)
    return MeanLoss(narrow, images[:, :, lit], loss.labels), torch.cat([kept, rest], dim=-1)


def flattened(net: LayeredNet, parameters: Parameters) -> Tensor:
    """w (members, size): the parameters in the order of the net's shapes."""
    return torch.cat([parameters[name].flatten(1) for name in net.shapes], dim=1)


def unflattened(net: LayeredNet, w: Tensor) -> Parameters:
    """The stack of parameters from w, which may belong to a single member."""
    shapes = net.shapes
    parts = w.split([torch.Size(shape).numel() for shape in shapes.values()], dim=-1)
    return {
        name: part.view(-1, *shape)
        for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }
