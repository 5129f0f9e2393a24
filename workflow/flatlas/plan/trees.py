"""Trees of settings: mappings within mappings, and the places in them."""

from collections.abc import Mapping, Sequence
from typing import Any

Location = tuple[str | int, ...]
# What says which keys a net may have.
FAMILY = "family"


def dotted(location: Sequence[str | int]) -> str:
    """('runs', 'base', 'batch') as 'runs.base.batch'."""
    return ".".join(str(part) for part in location)


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """One tree laid over another: mappings merge, everything else replaces.

    So does a net of another family: it has none of the keys of the one below.
    """
    if FAMILY in above and above[FAMILY] != below.get(FAMILY):
        return dict(above)
    both = dict(below)
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(both.get(key), Mapping):
            both[key] = merged(both[key], value)
        else:
            both[key] = value
    return both


def with_value(tree: Any, location: Sequence[str], value: Any) -> dict[str, Any]:
    """A copy of the tree with the value at a place, whatever was on the way there."""
    head, *rest = location
    inner = tree.get(head, {}) if isinstance(tree, Mapping) else {}
    beside = tree if isinstance(tree, Mapping) else {}
    return {**beside, head: with_value(inner, rest, value) if rest else value}


def has(tree: Any, location: Location) -> bool:
    """Whether there is a value at a place, even None."""
    for part in location:
        keyed = isinstance(tree, Mapping) and part in tree
        listed = isinstance(tree, list) and isinstance(part, int) and part < len(tree)
        if not (keyed or listed):
            return False
        tree = tree[part]
    return True


def at(tree: Any, location: Location) -> Any:
    """The value at a place."""
    for part in location:
        tree = tree[part]
    return tree


def leaves(tree: Any, location: Location = ()) -> dict[Location, Any]:
    """Every value in a tree that is not a mapping, with its place below the given one."""
    if not isinstance(tree, Mapping):
        return {location: tree}
    found: dict[Location, Any] = {}
    for key, value in tree.items():
        found |= leaves(value, (*location, key))
    return found
