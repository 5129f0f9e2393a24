"""The Gauss-Newton matrix of one batch, by its products."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

from flatlas.errors import FlatlasError
from flatlas.models.graph import reaches, unreached
from flatlas.models.losses import Outputs
from flatlas.models.second_order import again, gradient
from flatlas.models.tensors import described, flat, tensors_in


class GaussNewtonOfBatch:
    """The matrix Jᵀ (∂²ℓ/∂z²) J with the outputs z, and the batch's loss.

    `graphs` has the two computations that are differentiated twice: results and variables of each.
    """

    def __init__(
        self,
        made: Outputs,
        loss: Callable[[Outputs], tuple[Tensor, float]],
        by: Mapping[str, Tensor],
    ) -> None:
        """`made` are the model's outputs, computed from the parameters `by`."""
        self._leaves = list(by.values())
        self._z = [one for one in tensors_in(made) if one.requires_grad]
        self._free = [one.detach().requires_grad_() for one in self._z]
        copies = dict(zip(map(id, self._z), self._free, strict=True))
        total, self.share = loss(tree_map_only(Tensor, lambda one: copies.get(id(one), one), made))
        if reaches(self._leaves, [total]):
            raise FlatlasError(
                f"the Gauss-Newton matrix can't be computed for the output, {described(made)}. "
                "Allowed: tensors, alone or in tuples, lists and dictionaries."
            )
        if not self._z:
            raise unreached(by)
        self.graphs = (self._z, self._leaves), ([total], self._free)
        self.total = total.detach()
        self._slope = gradient(total, self._free)
        # Jᵀu is linear in u, whose value does not matter: its derivative along v is J v.
        self._u = [torch.zeros_like(one, requires_grad=True) for one in self._z]
        self._pulled = gradient(self._z, self._leaves, self._u)

    def product(self, vector: Sequence[Tensor]) -> Tensor:
        """Jᵀ (∂²ℓ/∂z²) J v for a vector v with a part for each parameter."""
        pulled, parts = _varying(self._pulled, vector)
        slope, along = _varying(self._slope, again(pulled, self._u, parts))
        if not slope:
            return torch.zeros_like(flat(vector))
        return flat(again(self._z, self._leaves, again(slope, self._free, along)))


def _varying(
    of: Sequence[Tensor], along: Sequence[Tensor]
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The tensors that have derivatives, and the parts of the vector that belong to them."""
    pairs = [pair for pair in zip(of, along, strict=True) if pair[0].requires_grad]
    return tuple(one for one, _ in pairs), tuple(one for _, one in pairs)
