"""The Fisher matrix of a classifier's own predictions, on all data, and natural gradients.

The matrix is a mean over predictions: the second order of their symmetrized KL divergence.
`hessian/fisher.py` explains the damping.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from flatlas.hessian import natural, softmax
from flatlas.hessian.natural import DecomposedFisher, NaturalGradients, by_conjugate_gradients
from flatlas.models.objective import Objective
from flatlas.models.tensors import flat


def natural_gradients(objective: Objective, gradients: Tensor, damping: float) -> NaturalGradients:
    """Natural gradients of all rows, from one gradient for each prediction and class."""
    logits = [*logits_of(objective)]
    predictions = sum(len(one) for one in logits)
    if predictions * logits[0].shape[1] * objective.size <= natural.NUMBERS:
        rows = torch.stack([*_rows(objective)]) / predictions**0.5
        return DecomposedFisher(rows).solve(gradients, damping)
    squares = torch.zeros_like(objective.w)
    for row in _rows(objective):
        squares += row.square() / predictions
    # The divisor is 1 for a loss that is a sum.
    scale = objective.divisor() / predictions

    def product(vectors: Tensor) -> Tensor:
        return scale * objective.gauss_newton_product(vectors)

    return by_conjugate_gradients(product, squares.sqrt(), gradients, damping)


@torch.no_grad()
def logits_of(objective: Objective) -> Iterator[Tensor]:
    """The logits of each batch's predictions; an error if the loss has no probabilities."""
    parts = objective.parts(objective.w)
    for one in objective.batches:
        yield objective.loss.logits(objective.outputs(parts, one), one.target)


def _rows(objective: Objective) -> Iterator[Tensor]:
    """The rows of R J, one for each prediction and class, with Rᵀ R = S."""
    for batch in objective.batches:
        for one in batch.parts(1):
            with objective.leaves(objective.w) as leaves:
                z = objective.loss.logits(objective.outputs({}, one), one.target)
                scores = (softmax.root(z.detach()) @ z.unsqueeze(-1)).flatten()
                found = [
                    torch.autograd.grad(
                        score, [*leaves.values()], retain_graph=True, materialize_grads=True
                    )
                    for score in scores
                ]
            for slopes in found:
                yield flat(slopes).to(objective.w)
