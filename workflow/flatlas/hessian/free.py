"""The Hessian of the mean loss of any net, by its products with vectors alone.

Forward-over-reverse differentiation by `torch.func` follows our stacked, functional nets as they
are. curvlinops does the same, but for a `Module` with `Parameter`s of its own, so that each net
would have to be built a second time; it is the tests' oracle.

In float32 a product takes a sixth of the time on a processor, and of trained nets is right to 4e-5
of its length: convolutions have their fast programs there. The loss is in float64 all the same
(`MeanLoss`).
"""

import torch
from torch import Tensor
from torch.func import grad, jvp

from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters


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
        """Of a stack's only member, at these parameters, over all these images."""
        (w,) = flattened(net, parameters)
        self._w = w.to(precision)
        self._loss = MeanLoss(net, inputs.to(precision), labels)

    @property
    def size(self) -> int:
        """The number of parameters."""
        return len(self._w)

    @torch.no_grad()
    def product(self, vectors: Tensor) -> Tensor:
        """H v for each row v of (vectors, size), in float64 whatever the `precision`."""
        return torch.stack([self._alone(vector.to(self._w)).double() for vector in vectors])

    def _alone(self, vector: Tensor) -> Tensor:
        image = torch.zeros_like(vector)
        for part, share in self._loss.parts():
            image += jvp(grad(part), (self._w,), (vector,))[1] * share
        return image
