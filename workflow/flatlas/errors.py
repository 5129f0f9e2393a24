"""The errors that a user can fix, and how messages name things."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

FEW = 4


class FlatlasError(Exception):
    """A wrong input: the message names it, what is allowed, and what to do."""


def named(error: BaseException) -> str:
    """The kind of an unexpected error and its text, if it has any."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def first_few(names: Sequence[str], separator: str = ", ") -> str:
    """The first four names, and how many more there are."""
    more = f"{separator}and {len(names) - FEW} more" if len(names) > FEW else ""
    return separator.join(names[:FEW]) + more


def nearest(given: str, allowed: Iterable[str]) -> str:
    """' Did you mean …?' when one of the allowed names is close to the given one, else ''."""
    names = {str(name).lower(): str(name) for name in allowed}
    # Names of two letters that are swapped have a similarity of one half.
    cutoff = 0.6 if len(given) > 2 else 0.5
    close = get_close_matches(given.lower(), names, n=1, cutoff=cutoff)
    return f" Did you mean '{names[close[0]]}'?" if close else ""
