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

from flatlas.hessian import softmax
from flatlas.hessian.attention import differentiable_attention
from flatlas.hessian.dense import DenseHessian
from flatlas.hessian.loss import flattened, unflattened
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters

# The largest G that is stored and decomposed, in numbers: half a GiB.
NUMBERS = 2**26
# Otherwise: the numbers in the rows held at a time, and the images and vectors in a product.
BLOCK, IMAGES, VECTORS = 2**24, 500, 16
# Singular values of G̃ up to this share of the largest are round-off.
ROUND_OFF = 1e-10
# A solution has converged when F̃x̃ + λx̃ equals the gradient up to this relative error.
TOLERANCE = 1e-8
ITERATIONS = 2000


@dataclass(frozen=True)
class NaturalGradients:
    """Rows x with (F + λ diag F) x = g; `residual` is the largest |(F̃ + λ) x̃ − g̃| / |g̃|."""

    x: Tensor
    residual: float
    iterations: int
    converged: bool


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
    small = len(predictions.inputs) * net.outputs * len(w) <= NUMBERS
    return DecomposedFisher.of(predictions, w) if small else FreeFisher(predictions, w)


class DecomposedFisher:
    """F by the singular values of G̃ = G (diag F)^-½, from which every damping follows.

    G̃ᵀ = Q R has orthonormal columns in Q, so that F̃ = Q R Rᵀ Qᵀ, and only R is decomposed.
    """

    def __init__(self, unit: Tensor, basis: Tensor, triangle: Tensor) -> None:
        """(diag F)^½, Q and R."""
        self._unit, self._basis, self._triangle = unit, basis, triangle
        vectors, values, _ = torch.linalg.svd(triangle, full_matrices=False)
        kept = values > ROUND_OFF * values[0]
        self._values, self._vectors = values[kept], vectors[:, kept]

    @classmethod
    @torch.no_grad()
    def of(cls, predictions: Predictions, w: Tensor) -> "DecomposedFisher":
        """The Fisher matrix at the weights w."""
        rows = _rows(predictions, w, len(predictions.inputs))
        unit = _or_one(rows.square().sum(0).sqrt_())
        basis, triangle = torch.linalg.qr(rows.div_(unit).mT)
        return cls(unit, basis, triangle)

    @torch.no_grad()
    def solve(self, gradients: Tensor, damping: float) -> NaturalGradients:
        """Natural gradients of all rows; λ = 0 is the pseudo-inverse on F's range."""
        g = gradients / self._unit
        within = g @ self._basis
        beyond = g.addmm(within, self._basis.mT, alpha=-1)
        shares = within @ self._vectors
        y = (shares / (self._values.square() + damping)) @ self._vectors.mT
        if damping:
            y += (within - shares @ self._vectors.mT) / damping
        x = y @ self._basis.mT
        if damping:
            x.add_(beyond, alpha=1 / damping)
        off = (y @ self._triangle @ self._triangle.mT + damping * y - within).norm(dim=1)
        if not damping:
            off = torch.hypot(off, beyond.norm(dim=1))
        residual = (off / _or_one(g.norm(dim=1))).max().item()
        return NaturalGradients(x.div_(self._unit), residual, 1, residual <= TOLERANCE)


class FreeFisher:
    """F by its products with vectors, and natural gradients by conjugate gradients."""

    def __init__(self, predictions: Predictions, w: Tensor) -> None:
        """At the weights w."""
        self._w, self._images = w, len(predictions.inputs)
        held = max(1, BLOCK // (predictions.net.outputs * len(w)))
        with torch.no_grad():
            blocks = (_rows(some, w, self._images) for some in predictions.split(held))
            self._unit = torch.stack([block.square().sum(0) for block in blocks]).sum(0).sqrt()
        self._blocks = predictions.split(IMAGES)

    @torch.no_grad()
    def product(self, vectors: Tensor) -> Tensor:
        """F v for each row v."""
        with differentiable_attention():
            return torch.stack([self._on(some, vectors) for some in self._blocks]).sum(0)

    @torch.no_grad()
    def solve(self, gradients: Tensor, damping: float) -> NaturalGradients:
        """Natural gradients of all rows, by conjugate gradients in units of (diag F)^½."""
        unit = _or_one(self._unit)
        g = gradients / unit

        def matrix(x: Tensor) -> Tensor:
            return self.product(x / unit) / unit + damping * x

        x, left = torch.zeros_like(g), g.clone()
        direction, square = left.clone(), left.square().sum(1, keepdim=True)
        iterations = 0
        while iterations < ITERATIONS and _residual(g - left, g) > TOLERANCE / 2:
            image = matrix(direction)
            length = square / _or_one((direction * image).sum(1, keepdim=True))
            x += length * direction
            left -= length * image
            before, square = square, left.square().sum(1, keepdim=True)
            direction = left + square / _or_one(before) * direction
            iterations += 1
        residual = _residual(matrix(x), g)
        return NaturalGradients(x / unit, residual, iterations, residual <= TOLERANCE)

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


def _residual(found: Tensor, wanted: Tensor) -> float:
    return float(((found - wanted).norm(dim=1) / _or_one(wanted.norm(dim=1))).max())


def _or_one(values: Tensor) -> Tensor:
    """A divisor: 1 in place of 0, where the dividend is 0 too."""
    return torch.where(values == 0, 1.0, values)
