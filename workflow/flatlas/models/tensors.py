"""Tensors, alone or in tuples, lists and dictionaries."""

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only

# Devices that compute in float32 alone.
WITHOUT_FLOAT64 = ("mps",)


def tensors_in(given: Any) -> list[Tensor]:
    """The tensors in tuples, lists and dictionaries."""
    return [leaf for leaf in tree_leaves(given) if isinstance(leaf, Tensor)]


def leaves_in(given: Any) -> Iterator[Any]:
    """What is in tuples, lists, dictionaries, and in dataclasses, which torch does not enter."""
    for leaf in tree_leaves(given):
        if is_dataclass(leaf) and not isinstance(leaf, type):
            yield from leaves_in([getattr(leaf, one.name) for one in fields(leaf)])
        else:
            yield leaf


def reals(leaves: Iterable[Any]) -> list[Tensor]:
    """The tensors of real numbers among these."""
    return [one for one in leaves if isinstance(one, Tensor) and one.is_floating_point()]


def cloned(given: Any) -> Any:
    """What is given, with copies of its tensors, which the caller may change."""
    return tree_map_only(Tensor, lambda one: one.clone(), given)


def rows_of(given: Any, numbers: Tensor, examples: int) -> Any:
    """What is given, with only some rows of each tensor that has a row for each example."""

    def rows(one: Tensor) -> Tensor:
        return one[numbers.to(one.device)] if one.ndim and len(one) == examples else one

    return tree_map_only(Tensor, rows, given)


def row_counts(given: Any) -> list[int]:
    """The number of rows of each tensor that has a dimension."""
    return [len(one) for one in tensors_in(given) if one.ndim]


def flat(given: Iterable[Tensor]) -> Tensor:
    """The numbers of several tensors in one vector."""
    return torch.cat([one.flatten() for one in given])


def exact(leaf: Tensor) -> Tensor:
    """The tensor in float64, on the CPU if its own device has no float64."""
    return (leaf.cpu() if leaf.device.type in WITHOUT_FLOAT64 else leaf).double()


def largest(numbers: Tensor) -> float:
    """The largest absolute value; NaN if there is one, 0 without numbers."""
    return float(numbers.abs().max()) if numbers.numel() else 0.0


def described(value: Any) -> str:
    """A short description of a value, for a message."""
    if isinstance(value, Tensor):
        return f"{value.dtype} of shape {tuple(value.shape)}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"
