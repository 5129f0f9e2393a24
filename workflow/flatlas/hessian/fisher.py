"""The Fisher matrix of a net's own predictions, and the natural gradients that follow from it.

F = ⟨J_iᵀ S_i J_i⟩ is a mean over images, with J = ∂logits/∂w and S = diag(p) − p pᵀ, the sum over
all classes that the net may predict: it is exact and needs no labels. With the rows R_i J_i in G,
where R_iᵀ R_i = S_i/n, it is F = GᵀG. Its rank is the rank of G, at most images times outputs; the
nets here have more weights.

So F must be damped, and the damping is Marquardt's, F + λ diag F, not F + λ1. Under an α-scaling w
→ Dw of a ReLU net, with D diagonal, F becomes D⁻¹ F D⁻¹ and diag F becomes D⁻¹ diag F D⁻¹, while
gradients become D⁻¹ g. So gᵀ (F + λ diag F)⁻¹ g does not change, for any λ. The identity does not
scale like that, nor do the products JJᵀ between images, which D also changes: either damping would
give several values for one function. In units of (diag F)^½ the scaling disappears: F̃ has a
diagonal of ones, and λ has no unit. λ = 0 is the pseudo-inverse on the range of F. The gradient of
any of its images is in that range, because p − y is in the range of S.
"""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.func import jvp, vjp, vmap

from flatlas.hessian import natural, softmax
from flatlas.hessian.dense import DenseHessian
from flatlas.hessian.layers import differentiable_layers
from flatlas.hessian.loss import flattened, unflattened
from flatlas.hessian.natural import (
    DecomposedFisher,
    NaturalGradients,
    by_conjugate_gradients,
)
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters

# If G is not stored: the most numbers in a block of its rows, and the most images (of a net whose
# layers are known) and vectors in a product.
BLOCK, IMAGES, VECTORS = 2**24, 500, 16


@dataclass(frozen=True)
class Predictions:
    """The logits of one net on images (images, channels, height, width), as a function of w."""

    net: LayeredNet
    inputs: Tensor

    def __call__(self, w: Tensor) -> Tensor:
        """(images, outputs)."""
        return self.net.forward(unflattened(self.net, w), self.inputs.unsqueeze(0)).squeeze(0)

    @torch.enable_grad()
    def jacobian(self, w: Tensor) -> Tensor:
        """J (images, outputs, size), all at once: a stack has a member for each image."""
        leaf = w.repeat(len(self.inputs), 1).requires_grad_()
        logits = self.net.forward(unflattened(self.net, leaf), self.inputs.unsqueeze(1)).squeeze(1)
        rows = [
            torch.autograd.grad(one.sum(), leaf, retain_graph=True)[0] for one in logits.unbind(1)
        ]
        return torch.stack(rows, dim=1)

    def split(self, images: int) -> "list[Predictions]":
        """Parts with this many images each."""
        return [Predictions(self.net, some) for some in self.inputs.split(images)]


def fisher_of(net: LayeredNet, parameters: Parameters, inputs: Tensor) -> "Fisher":
    """F with G stored if it is small enough, otherwise by products with vectors."""
    (w,) = flattened(net, parameters)
    predictions = Predictions(net, inputs.squeeze(0))
    if len(predictions.inputs) * net.outputs * len(w) > natural.NUMBERS:
        return FreeFisher(predictions, w)
    with torch.no_grad():
        return DecomposedFisher(_rows(predictions, w, len(predictions.inputs)))


class FreeFisher:
    """F by its products with vectors, and natural gradients by conjugate gradients."""

    def __init__(self, predictions: Predictions, w: Tensor) -> None:
        """At the weights w."""
        self._w, self._images = w, len(predictions.inputs)
        net = predictions.net
        most = len(predictions.inputs) if net.layers_known else net.at_once(w.device)
        held = max(1, min(most, BLOCK // (net.outputs * len(w))))
        with torch.no_grad():
            blocks = (_rows(some, w, self._images) for some in predictions.split(held))
            self._unit = torch.stack([block.square().sum(0) for block in blocks]).sum(0).sqrt()
        self._blocks = predictions.split(IMAGES if net.layers_known else max(1, most // VECTORS))

    @torch.no_grad()
    def product(self, vectors: Tensor) -> Tensor:
        """F v for each row v."""
        with differentiable_layers():
            return torch.stack([self._on(some, vectors) for some in self._blocks]).sum(0)

    @torch.no_grad()
    def solve(self, gradients: Tensor, damping: float) -> NaturalGradients:
        """Natural gradients of all rows, by conjugate gradients in units of (diag F)^½."""
        return by_conjugate_gradients(self.product, self._unit, gradients, damping)

    def _on(self, some: Predictions, vectors: Tensor) -> Tensor:
        """The contribution of some of the images to F v."""
        logits, back = vjp(some, self._w)[:2]
        root = softmax.root(logits) / self._images**0.5

        def alone(vector: Tensor) -> Tensor:
            change = jvp(some, (self._w,), (vector,))[1]
            seen = root.mT @ (root @ change.unsqueeze(-1))
            return back(seen.squeeze(-1))[0]

        found: Tensor = vmap(alone, chunk_size=VECTORS)(vectors)
        return found


Fisher = DecomposedFisher | FreeFisher


def _rows(predictions: Predictions, w: Tensor, images: int) -> Tensor:
    """The rows of G (images times outputs, size) for some of all the `images`."""
    net = predictions.net
    if net.only_dense:
        inputs = predictions.inputs.unsqueeze(0)
        root = partial(_root_of_mean, images=images)
        parameters = unflattened(net, w)
        return DenseHessian.gauss_newton(net, parameters, inputs, root).gauss_newton_root()
    root = softmax.root(predictions(w)) / images**0.5
    return (root @ predictions.jacobian(w)).flatten(0, 1)


def _root_of_mean(logits: Tensor, images: int) -> Tensor:
    """R (outputs, images, outputs) with RᵀR = S/n."""
    return softmax.root(logits).transpose(0, 1) / images**0.5
