"""The Hessian of the mean loss of any net, only by its products with vectors.

Forward-over-reverse differentiation by `torch.func` works on our stacked, functional nets directly.
curvlinops does the same, but needs a `Module` with its own `Parameter`s, so each net would have to
be built twice.

In float32 a product takes a sixth of the time on a CPU, because convolutions have fast
implementations there. For trained nets its error is up to 4e-5 of its length. The loss is in
float64 in any case (`MeanLoss`).
"""

import torch
from torch import Tensor
from torch.func import grad, jvp, vmap

from flatlas.hessian.layers import differentiable_layers
from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters

# Vectors that share a pass: on small nets ten together take the time of four or five alone.
VECTORS = 10


class FreeHessian:
    """∇∇L in all parameters: its product with vectors."""

    def __init__(
        self,
        net: LayeredNet,
        parameters: Parameters,
        inputs: Tensor,
        labels: Tensor,
        precision: torch.dtype = torch.float64,
    ) -> None:
        """For a stack's only member, at these parameters, over all these images."""
        (w,) = flattened(net, parameters)
        self._w = w.to(precision)
        self._loss = MeanLoss(net, inputs.to(precision), labels)

    @property
    def size(self) -> int:
        """The number of parameters."""
        return len(self._w)

    @property
    def at_once(self) -> int:
        """The best number of vectors in a product; `vmap` may not support modules."""
        return VECTORS if self._loss.net.layers_known else 1

    @torch.no_grad()
    def product(self, vectors: Tensor) -> Tensor:
        """H v for each row v of (vectors, size), in float64 whatever the `precision`."""
        blocks = vectors.to(self._w).split(self.at_once)
        return torch.cat([self._together(block) for block in blocks]).double()

    def _together(self, vectors: Tensor) -> Tensor:
        """Products of several vectors in one pass, with fewer images at a time to limit memory."""
        images = torch.zeros_like(vectors)
        with differentiable_layers():
            for part, share in self._loss.parts(len(vectors)):
                images += _along(part, self._w, vectors) * share
        return images


def _along(loss: MeanLoss, w: Tensor, vectors: Tensor) -> Tensor:
    def product(vector: Tensor) -> Tensor:
        image: Tensor = jvp(grad(loss), (w,), (vector,))[1]
        return image

    if len(vectors) == 1:
        return product(vectors[0]).unsqueeze(0)
    images: Tensor = vmap(product)(vectors)
    return images
