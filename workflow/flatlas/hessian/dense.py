"""The Hessian of the mean loss of a dense net, in closed form.

With its bias as an additional row of weights, layer l maps its input ã_l = (a_l, 1) to z_l = ã_l
W̃_l. The logits are piecewise linear in the weights of one layer; for two layers, l < m, their
second derivative is that of the product a_m W_m. Given the ReLU pattern of each image, the block of
two layers is therefore

    H_lm = Σ_images  ã_l ã_mᵀ ⊗ R_lᵀ R_m  +  ã_l ⊗ A_lm ⊗ δ_m   (the latter for l < m only)

where R_lᵀ R_m = J_lᵀ S J_m is S, the curvature of the loss in the logits, pulled back to z_l and
z_m, A_lm = ∂a_m/∂z_l and δ_m = ∂L/∂z_m. The first term is the Gauss-Newton matrix, the second adds
the residuals δ. R and δ include the 1/n of the mean over images.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import torch
from torch import Tensor
from torch.nn import functional

from flatlas.hessian import softmax
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters

# The most numbers in an array over pairs of images: 32 MiB.
NUMBERS = 2**22
# The most numbers in an array over vectors, images and outputs of a layer: 8 MiB.
CACHED = 2**20

# A function of the logits (images, outputs) that returns δ and R as in `Site`.
AtLogits = Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Site:
    """The forward and backward results of all images at one layer.

    `incoming` is ã (images, n_in + 1), or a without a bias; `active` (images, n_out) is the factor
    0 or 1 that the ReLU applies to z, and 1 at the logits. `delta` is δ (images, n_out) and `root`
    is R (outputs, images, n_out).
    """

    weight: Tensor
    incoming: Tensor
    active: Tensor
    delta: Tensor
    root: Tensor

    @property
    def activity(self) -> Tensor:
        """a, without the 1 that multiplies the bias."""
        return self.incoming[:, : len(self.weight)]

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of W̃, the weights with the bias as their last row."""
        return self.incoming.shape[1], self.weight.shape[1]


@dataclass(frozen=True)
class DenseHessian:
    """∇∇L in all weights and biases: its product with vectors, its trace and its norm."""

    sites: tuple[Site, ...]

    @classmethod
    @torch.no_grad()
    def of(
        cls, net: LayeredNet, parameters: Parameters, inputs: Tensor, labels: Tensor
    ) -> "DenseHessian":
        """The Hessian of a stack's only member, at these parameters, over all these images."""
        return cls(_sites(net, parameters, inputs, partial(_at_logits, labels=labels.squeeze(0))))

    @classmethod
    @torch.no_grad()
    def gauss_newton(
        cls,
        net: LayeredNet,
        parameters: Parameters,
        inputs: Tensor,
        root: Callable[[Tensor], Tensor],
    ) -> "DenseHessian":
        """Only Jᵀ S J, summed over images, with R from `root` of the logits (images, outputs).

        R (rows, images, outputs) may be the root of any S = RᵀR: the loss need not be the
        cross-entropy.
        """
        return cls(_sites(net, parameters, inputs, lambda z: (torch.zeros_like(z), root(z))))

    def reduced(self) -> "DenseHessian":
        """The same without first-layer directions that are orthogonal to all images.

        If there are more inputs than images, it is the Hessian in an orthonormal basis of the
        images' span. It lacks only eigenvalues that are 0.
        """
        first, *above = self.sites
        images, inputs = first.incoming.shape
        if inputs <= images:
            return self
        spanned = torch.linalg.qr(first.incoming.T, mode="r").R.T.contiguous()
        return DenseHessian((replace(first, incoming=spanned), *above))

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(self._sizes)

    @property
    def rows(self) -> int:
        """Images times outputs: the terms in the sum of the Gauss-Newton matrix."""
        return self.sites[0].root.shape[:2].numel()

    @property
    def at_once(self) -> int:
        """The best number of vectors in a product: their data for a layer should fit a cache."""
        images, widest = len(self.sites[0].incoming), max(site.shape[1] for site in self.sites)
        return max(1, CACHED // (images * widest))

    @torch.no_grad()
    def product(self, vectors: Tensor) -> Tensor:
        """H v for each row v of (vectors, size): backpropagation, differentiated along v."""
        first, *above = self.sites
        parts = vectors.split(self._sizes, dim=1)
        along = [part.unflatten(1, s.shape) for part, s in zip(parts, self.sites, strict=True)]

        # With the images last the large products are twice as fast.
        z, moved = along[0].mT @ first.incoming.T, []
        for below, site, change in zip(self.sites, above, along[1:], strict=False):
            moved.append(below.active.T * z)
            z = change.mT @ site.incoming.T + site.weight.T @ moved[-1]
        root = self.sites[-1].root
        delta = torch.einsum("cij,vci->vji", root, torch.einsum("cij,vji->vci", root, z))

        images = []
        for position in range(len(above), 0, -1):
            site, n_in = self.sites[position], len(self.sites[position].weight)
            images.append(delta @ site.incoming)
            images[-1][:, :, :n_in] += site.delta.T @ moved[position - 1].mT
            delta = site.weight @ delta + along[position][:, :n_in] @ site.delta.T
            delta *= self.sites[position - 1].active.T
        images.append(delta @ first.incoming)
        return torch.cat([image.mT.flatten(1) for image in reversed(images)], dim=1)

    @torch.no_grad()
    def gauss_newton_root(self) -> Tensor:
        """G, where GᵀG is the Gauss-Newton matrix; it has a row for each output and image."""
        blocks = [s.incoming.unsqueeze(-1) * s.root.unsqueeze(2) for s in self.sites]
        return torch.cat([block.flatten(2) for block in blocks], dim=2).flatten(0, 1)

    @torch.no_grad()
    def trace(self) -> float:
        """The trace, Σ |ã_l|² |R_l|²: only blocks of one layer with itself have a diagonal."""
        per_layer = [s.incoming.square().sum(1) @ s.root.square().sum((0, 2)) for s in self.sites]
        return torch.stack(per_layer).sum().item()

    @torch.no_grad()
    def frobenius(self) -> float:
        """(Σ_lm |H_lm|²)^½, where |H_lm|² is a sum over pairs of images of products of overlaps."""
        count = len(self.sites)
        square = sum(self._square(layer, layer) for layer in range(count))
        square += 2 * sum(self._square(low, high) for low, high in combinations(range(count), 2))
        return float(square) ** 0.5

    @property
    def _sizes(self) -> list[int]:
        return [rows * columns for rows, columns in (site.shape for site in self.sites)]

    def _square(self, low: int, high: int) -> float:
        """|H_lm|² = Σ ⟨ã_l, ã_l′⟩ ⟨T, T′⟩ with T = ã_m ⊗ R_lᵀ R_m + A_lm ⊗ δ_m of each image."""
        one, other = self.sites[low], self.sites[high]
        outputs, images, _ = one.root.shape
        carried = self._carried(low, high) if low < high else None
        square = 0.0
        every = torch.arange(images, device=one.root.device)
        for rows in every.split(max(1, NUMBERS // (outputs**2 * images))):
            inner = _overlaps(other.incoming, rows) * (
                _root_overlaps(one.root, rows) * _root_overlaps(other.root, rows)
            ).sum((0, 2))
            if carried is not None:
                inner += _overlaps(carried, rows) * _overlaps(other.delta, rows)
                # Twice, because image and image′ swap places in the sum.
                paths = _paths(one.root[:, rows], other.activity[rows], low + 1 == high)
                residuals = other.root[:, rows] @ other.delta.T
                inner += 2 * (residuals * (paths @ carried.T)).sum(0)
            square += (_overlaps(one.incoming, rows) * inner).sum().item()
        return square

    def _carried(self, low: int, high: int) -> Tensor:
        """A_lm of each image, flattened; for neighbouring layers its diagonal, the ReLU pattern."""
        active = self.sites[low].active
        if low + 1 == high:
            return active
        carried = torch.diag_embed(active)
        for site in self.sites[low + 1 : high]:
            carried = carried @ site.weight * site.active.unsqueeze(1)
        return carried.flatten(1)


def _paths(root: Tensor, activity: Tensor, neighbours: bool) -> Tensor:
    """R_l ⊗ a_m of each output and image, flattened as A_lm, where A_lm may be nonzero."""
    if neighbours:
        return root * activity
    return (root.unsqueeze(-1) * activity.unsqueeze(1)).flatten(2)


def _overlaps(vectors: Tensor, rows: Tensor) -> Tensor:
    """⟨x, x′⟩ between the images in `rows` and all images: (rows, images)."""
    return vectors[rows] @ vectors.T


def _root_overlaps(root: Tensor, rows: Tensor) -> Tensor:
    """⟨R_c, R_c′⟩ between outputs c, c′ and images: (outputs, rows, outputs, images)."""
    return torch.einsum("aih,bjh->aibj", root[:, rows], root)


def _sites(
    net: LayeredNet, parameters: Parameters, inputs: Tensor, at_logits: AtLogits
) -> tuple[Site, ...]:
    """The results of a forward and a backward pass at each layer."""
    weights, incoming, active = [], [], []
    activity = inputs.squeeze(0).flatten(1)
    for layer in net.dense_layers:
        weights.append(parameters[f"{layer.name}.weight"].squeeze(0))
        incoming.append(functional.pad(activity, (0, int(layer.bias)), value=1.0))
        z = layer.preactivation(parameters, activity.unsqueeze(0)).squeeze(0)
        active.append((z > 0).to(z) if layer.relu else torch.ones_like(z))
        activity = z * active[-1]
    delta, root = at_logits(activity)
    sites: list[Site] = []
    for weight, a, gate in zip(*map(reversed, (weights, incoming, active)), strict=True):
        if sites:
            delta, root = gate * (delta @ sites[-1].weight.T), gate * (root @ sites[-1].weight.T)
        sites.append(Site(weight, a, gate, delta, root))
    return tuple(reversed(sites))


def _at_logits(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """δ (images, outputs) and R (outputs, images, outputs) at the logits z."""
    images, outputs = logits.shape
    if outputs == 1:
        delta = torch.where(labels.unsqueeze(1) == 1, -(-logits).sigmoid(), logits.sigmoid())
    else:
        row = torch.arange(images, device=logits.device)
        delta = -softmax.deviations(logits.softmax(1))[row, labels]
    return delta / images, softmax.root(logits, images).transpose(0, 1)
