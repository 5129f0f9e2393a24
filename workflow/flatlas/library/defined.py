"""What is only defined for some models: left out of a measure, or refused if it is requested."""

from collections.abc import Callable
from typing import TypeVar

from flatlas.errors import FlatlasError

Value = TypeVar("Value")


class Undefined(FlatlasError):
    """The message says why this model does not have it."""


def where_defined(wanted: bool | None, taken: Callable[[], Value]) -> Value | None:
    """A value; nothing if it is not wanted, or if it is undefined and not explicitly wanted."""
    if wanted is False:
        return None
    try:
        return taken()
    except Undefined:
        if wanted:
            raise
        return None
