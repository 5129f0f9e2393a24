"""The relative flatness of a layer (Petzka et al. 2021), which no rescaling of layers changes."""

from dataclasses import dataclass

import torch
from torch import Tensor

from flatlas.flatness.loss import Loss
from flatlas.hessian.hutchinson import hutchinson
from flatlas.hessian.sampled import Sampled

# Products that share a pass: five times faster than one by one, and more need more memory.
AT_ONCE = 16


@dataclass(frozen=True)
class RelativeFlatness:
    """Σ over s, s' of ⟨w_s, w_s'⟩ tr H_ss'; larger is sharper.

    w_s has the weights into the layer's output s, and H_ss' is the Hessian's block of w_s and w_s'.
    `products` counts the Hessian's products with vectors. The flatness is `exact` if they were
    enough; otherwise it is unbiased, with its standard error.
    """

    flatness: Sampled
    products: int
    exact: bool


def relative_flatness(loss: Loss, probes: int, generator: torch.Generator) -> RelativeFlatness:
    """The relative flatness of a loss whose w is a matrix W (outputs, inputs).

    It takes at most `probes` products. The relative flatness is the trace of Vᵀ H V for the linear
    map V of matrices, Ξ to B Ξ with B Bᵀ = W Wᵀ. Here B has no more columns than W has rows or
    columns.
    """
    (shape,) = loss.shapes.values()
    left, singular, _ = torch.linalg.svd(loss.w.view(shape), full_matrices=False)
    b = left * singular
    size = b.shape[1] * shape[1]

    def product(rows: Tensor) -> Tensor:
        spread = b @ rows.unflatten(1, (b.shape[1], shape[1]))
        image = loss.hessian_product(spread.flatten(1))
        return (b.T @ image.unflatten(1, shape)).flatten(1)

    if size <= probes:
        unit = torch.eye(size, dtype=b.dtype, device=b.device)
        exact = sum((product(rows) * rows).sum().item() for rows in unit.split(AT_ONCE))
        return RelativeFlatness(Sampled(exact, 0.0), size, exact=True)
    trace, _ = hutchinson(product, size, probes, generator, AT_ONCE)
    return RelativeFlatness(trace, probes, exact=False)
