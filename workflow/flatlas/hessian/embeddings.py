"""Embeddings as torch computes them, with the derivatives of their function.

A training may leave out the gradient of padding, divide it by counts, or make it sparse, which has
no second derivative. torch's bags of embeddings have no second derivative either.
"""

import torch
from torch import Tensor
from torch import embedding as of_torch

# A reduction of torch's tensors for each of torch's numbers of a mode: sum, mean and maximum.
REDUCTIONS = ("sum", "mean", "amax")


def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The row of `weight` for each index, without what changes gradients alone."""
    return of_torch(weight, indices)


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, None, None, None]:
    """The sum, mean or maximum of the rows in each bag, without padding; 0 for an empty bag.

    torch's three other results, which only its own derivative needs, are left out.
    """
    rows = of_torch(weight, indices)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    begins = offsets[:-1] if include_last_offset else offsets
    bag = torch.searchsorted(begins, torch.arange(len(rows)).to(begins), right=True) - 1
    if padding_idx is not None:
        counts = indices != padding_idx % len(weight)
        rows, bag = rows[counts], bag[counts]
    where = bag.unsqueeze(1).expand_as(rows)
    empty = rows.new_zeros(len(begins), weight.shape[1])
    made = empty.scatter_reduce(0, where, rows, REDUCTIONS[mode], include_self=False)
    return made, None, None, None
