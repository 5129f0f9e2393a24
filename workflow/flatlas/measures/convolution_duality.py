"""The approximate activity-weight duality of one convolution layer.

A kernel acts on every patch of an image. So no single change of the kernel gives every patch of a
training image the pre-activation that the test image has at that place. The paper's discussion
leaves convolutions open. Here the dual weights are the least-squares solution of P Δw = (P′ − P) w
with the smallest Δw, where P and P′ have the patches of the partner and of the test image as rows.
If the patches are linearly independent, the solution and the duality are exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor
from torch.nn import functional

from flatlas.errors import FlatlasError, nearest
from flatlas.flatness.dual_weights import ROUND_OFF, vanishing
from flatlas.measures.partners import partners_of
from flatlas.measures.solution import Solution
from flatlas.measures.tables import table_of
from flatlas.nets.layers import Convolution
from flatlas.nets.loss import sample_losses

# Pixels and trained weights have single precision: a singular value of the patches below this share
# of the largest is round-off and counts as zero.
CUTOFF = 1e-7
# The most numbers in the patches of a block of images: 32 MiB.
NUMBERS = 2**22


@dataclass(frozen=True)
class Layer:
    """A convolution with its weights w (n_in · k · k, n_out), and the net around it."""

    solution: Solution
    convolution: Convolution
    weight: Tensor

    def patches(self, images: Tensor) -> Tensor:
        """P (images, positions, n_in · k · k): the layer's input, patch by patch."""
        stage = self.convolution
        activity = self.solution.into(stage.name, images)
        unfolded = functional.unfold(
            activity.squeeze(0), stage.kernel, padding=stage.padding, stride=stage.stride
        )
        return unfolded.transpose(1, 2)

    def preactivation(self, patches: Tensor, shift: Tensor | float = 0.0) -> Tensor:
        """z = P (w + Δw) + b (images, positions, n_out); the bias stays as it is."""
        z = patches @ (self.weight + shift)
        if self.convolution.bias:
            z = z + self.solution.parameters[f"{self.convolution.name}.bias"]
        return z

    def losses(self, z: Tensor, labels: Tensor) -> Tensor:
        """The loss of each image, given its pre-activations in the layer."""
        side = isqrt(z.shape[1])
        pixels = z.transpose(1, 2).unflatten(2, (side, side)).unsqueeze(0)
        logits = self.solution.logits_from(self.convolution.name, pixels)
        return sample_losses(logits, labels.unsqueeze(0)).squeeze(0)


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`pairs` has a row for each pair; `summary` is one row.

    For a pair, `loss_gap` is l(x′, w) − l(x, w), `dual_loss_gap` is l(x, w + Δw) − l(x, w), and
    `residual` |z* − z′| / |z − z′|, the share of the change of pre-activations that Δw can't
    produce; z* are the pre-activations of the partner with dual weights. `residual_loss` is the
    mean |l(x, w + Δw) − l(x′, w)|.
    """
    layer = _layer(solution, options["layer"])
    partners = partners_of(solution)
    rows = max(1, NUMBERS // layer.patches(solution.inputs[:, :1]).numel())
    blocks = [
        _pairs(
            layer,
            solution.inputs[:, train],
            solution.test_inputs[:, test],
            solution.test_labels[0, test],
        )
        for train, test in zip(partners.train.split(rows), partners.test.split(rows), strict=True)
    ]
    columns = {name: torch.cat([block[name] for block in blocks]) for name in blocks[0]}
    zero = columns.pop("zero")
    pairs = table_of(columns, numbered="pair")
    summary = {
        "pairs": len(pairs),
        "zero_pairs": int(zero.sum()),
        "pairwise_gap": pairs["loss_gap"].mean(),
        "dual_gap": pairs["dual_loss_gap"].mean(),
        "residual_loss": (pairs["dual_loss_gap"] - pairs["loss_gap"]).abs().mean(),
        "residual": pairs["residual"].mean(),
    }
    return {"pairs": pairs, "summary": DataFrame([summary])}


def _layer(solution: Solution, name: str) -> Layer:
    for convolution in solution.net.convolutions:
        if convolution.name == name:
            kernel = solution.parameters[f"{name}.weight"].squeeze(0)
            return Layer(solution, convolution, kernel.flatten(1).T)
    allowed = [convolution.name for convolution in solution.net.convolutions]
    raise FlatlasError(
        f"layer '{name}' is not a convolution of this net. "
        f"Convolutions: {', '.join(allowed) or 'none'}.{nearest(name, allowed)}"
    )


def _pairs(layer: Layer, images: Tensor, test_images: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """The columns of `pairs` for some pairs, and which of them have Δw = 0."""
    patches = layer.patches(images)
    z, test_z = layer.preactivation(patches), layer.preactivation(layer.patches(test_images))
    shift = least_squares(patches, test_z - z)
    dual_z = layer.preactivation(patches, shift)
    losses, test_losses, dual_losses = (layer.losses(one, labels) for one in (z, test_z, dual_z))
    missed, apart, size = (
        one.flatten(1).norm(dim=1) for one in (dual_z - test_z, test_z - z, test_z)
    )
    return {
        "loss_gap": test_losses - losses,
        "dual_loss_gap": dual_losses - losses,
        # If z and z′ differ only by round-off, the residual is 0.
        "residual": torch.where(apart > ROUND_OFF * size, missed / apart, 0.0),
        "zero": vanishing(shift, layer.weight),
    }


def least_squares(patches: Tensor, change: Tensor) -> Tensor:
    """The smallest Δw (pairs, n_in · k · k, n_out) that minimizes |P Δw − change|."""
    left, values, right = torch.linalg.svd(patches, full_matrices=False)
    inverse = torch.where(values > CUTOFF * values[:, :1], 1 / values, 0.0)
    return right.mT @ (inverse.unsqueeze(2) * (left.mT @ change))
