"""Duplicate images: a function has the same value on them, or is impossible."""

import torch
from torch import Tensor

Pairs = tuple[tuple[int, int], ...]


def first_of_equals(images: Tensor) -> Tensor:
    """For each image the position of the first one that is exactly equal to it."""
    distinct, group = torch.unique(images.flatten(1), dim=0, return_inverse=True)
    positions = torch.arange(len(images), device=images.device)
    first = positions.new_full((len(distinct),), len(images))
    return first.scatter_reduce(0, group, positions, "amin")[group]


def contradictions(first: Tensor, labels: Tensor) -> Pairs:
    """Pairs of equal images with different labels, by position; the first of equals comes first."""
    clash = (labels != labels[first]).nonzero().flatten()
    return tuple(zip(first[clash].tolist(), clash.tolist(), strict=True))
