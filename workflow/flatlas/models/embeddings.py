"""Embeddings as torch computes them, with the derivatives of their function.

A training may leave out the gradient of padding, divide it by counts, or make it sparse, which has
no second derivative. torch's bags of embeddings have no second derivative either.
"""

import torch
from torch import Tensor
from torch.nn.functional import embedding as of_torch

# A reduction of torch's tensors for each mode of a bag.
REDUCTIONS = {"sum": "sum", "mean": "mean", "max": "amax"}


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The row of `weight` for each number in `input`, without what changes gradients alone."""
    return of_torch(input, weight, max_norm=max_norm, norm_type=norm_type)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows in each bag, without padding; 0 for an empty bag."""
    rows = embedding(input.flatten(), weight, max_norm=max_norm, norm_type=norm_type)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.flatten().unsqueeze(1)
    if offsets is None:
        bags, length = input.shape
        bag = torch.arange(bags, device=rows.device).repeat_interleave(length)
    else:
        begins = offsets[:-1] if include_last_offset else offsets
        bags = len(begins)
        bag = torch.searchsorted(begins, torch.arange(len(rows)).to(begins), right=True) - 1
    if padding_idx is not None:
        counts = input.flatten() != padding_idx % len(weight)
        rows, bag = rows[counts], bag[counts]
    where = bag.unsqueeze(1).expand_as(rows)
    empty = rows.new_zeros(bags, weight.shape[1])
    return empty.scatter_reduce(0, where, rows, REDUCTIONS[mode], include_self=False)
