"""Minibatch ascent of the loss of dense nets around w, many members at a time.

A step changes the displacement Δw in float32, not w + Δw, so a step far below the round-off of w
still has an effect. Steps only decide where the ascent goes; the caller evaluates the loss there in
float64. The gradient is written out by hand and added to Δw as it is computed.
"""

import torch
from torch import Tensor

from flatlas.hessian.loss import MeanLoss, unflattened
from flatlas.nets.dense_gradient import output_delta
from flatlas.nets.layers import Parameters

# A derivative by a logit counts as 0 up to this size. Smaller ones lead to denormal numbers, with
# which a product takes ten times as long.
LEAST = 1e-20
EPSILON = torch.finfo(torch.float32).eps


class DenseAscent:
    """An ascent of a stack of members, each in its box."""

    @torch.no_grad()
    def __init__(self, loss: MeanLoss, w: Tensor, side: Tensor) -> None:
        """The box is |Δw| ≤ `side`; both `w` and `side` are (members, size)."""
        net = self._net = loss.net
        self._side, self._steps = side, torch.zeros_like(w, dtype=torch.float32)
        self._moved = unflattened(net, self._steps)
        # Rounded up, because the ascent must be able to reach the sides of the box.
        reach = side.float().mul_(1 + EPSILON)
        self._high, self._low = unflattened(net, reach), unflattened(net, -reach)
        start = unflattened(net, w)
        # The first layer's pre-activations at w itself never change.
        images = loss.inputs.flatten(2)
        first = net.dense_layers[0]
        z = first.preactivation(start, images.expand(len(w), -1, -1))
        self._from_start = z.float()
        self._start = {name: value.float() for name, value in start.items()}
        self._images, self._labels = images.float(), loss.labels

    @property
    def displacements(self) -> Tensor:
        """Δw (members, size) in float64, at first 0."""
        return self._steps.double().clamp_(-self._side, self._side)

    @torch.no_grad()
    def step(self, drawn: Tensor, lr: float) -> None:
        """Take a step up the slope of the mean loss of some images, and go back into the box."""
        activities = [self._images.index_select(1, drawn).expand(len(self._steps), -1, -1)]
        z, weights = self._from_start.index_select(1, drawn), {}
        for number, layer in enumerate(self._net.dense_layers):
            weight, bias = f"{layer.name}.weight", f"{layer.name}.bias"
            if number:
                weights[weight] = self._start[weight] + self._moved[weight]
                z = torch.bmm(activities[-1], weights[weight])
                if layer.bias:
                    z += (self._start[bias] + self._moved[bias]).unsqueeze(1)
            else:
                z.baddbmm_(activities[-1], self._moved[weight])
                if layer.bias:
                    z += self._moved[bias].unsqueeze(1)
            activities.append(z.relu_() if layer.relu else z)
        labels = self._labels.index_select(1, drawn).expand(len(z), -1)
        # In float32 the derivative would be zero for a confidently classified image.
        delta = output_delta(activities.pop().double(), labels).float()
        self._back(activities, weights, delta.mul_(delta.abs() > LEAST), lr)

    def _back(
        self, activities: list[Tensor], weights: Parameters, delta: Tensor, lr: float
    ) -> None:
        """Add the gradient to Δw, from the derivative by the logits down to the first layer."""
        for layer in reversed(self._net.dense_layers):
            below, weight = activities.pop(), f"{layer.name}.weight"
            self._moved[weight].baddbmm_(below.mT, delta, alpha=lr)
            if layer.bias:
                self._moved[f"{layer.name}.bias"].add_(delta.sum(1), alpha=lr)
            for name in layer.shapes:
                self._moved[name].clamp_(self._low[name], self._high[name])
            if activities:
                delta = torch.bmm(delta, weights[weight].mT).mul_(below > 0)
