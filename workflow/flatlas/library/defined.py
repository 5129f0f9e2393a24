"""Quantities that only some models have: left out by default, an error if requested."""

from collections.abc import Callable
from typing import TypeVar

from flatlas.errors import FlatlasError

Value = TypeVar("Value")


class Undefined(FlatlasError):
    """A quantity that this model does not have; the message says why."""


def where_defined(wanted: bool | None, taken: Callable[[], Value]) -> Value | None:
    """A value; None if `wanted` is False, or if the value is undefined and `wanted` is None."""
    if wanted is False:
        return None
    try:
        return taken()
    except Undefined:
        if wanted:
            raise
        return None
