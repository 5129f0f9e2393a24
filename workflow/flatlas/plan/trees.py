"""Trees of settings: mappings within mappings, and the places in them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flatlas.errors import FlatlasError

Location = tuple[str | int, ...]
# What messages call the user's settings: Snakemake merges the files before we see them.
USER = "config/config.yaml (or --configfile, --config)"
# Text of 1 to 200 characters, without control characters or any that UTF-8 can't write.
_KEY = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,200}")
# In these mappings one key decides which others are allowed. If it changes, only those named after
# it keep their values.
CHOOSING: dict[str, tuple[str, tuple[str, ...]]] = {
    "net": ("family", ()),
    "init": ("scheme", ()),
    "schedule": ("kind", ()),
    "optimizer": ("name", ("lr",)),
}
# The whole configuration of this repository has 3,000 values, ten levels deep.
MOST_VALUES, DEEPEST = 300_000, 50
# A float can hold this number, and Python can print it.
LONGEST_INTEGER = 10**300


def dotted(location: Sequence[str | int]) -> str:
    """('runs', 'base', 'batch') as 'runs.base.batch'."""
    return ".".join(str(part) for part in location)


def check_tree(tree: Any, file: str) -> None:
    """Refuse too many values, values nested too deeply, numbers too long to print, and bad keys.

    A few lines of YAML can make a billion values if their anchors refer to each other.
    """
    waiting: list[tuple[Location, Any]] = [((), tree)]
    count = 0
    while waiting:
        place, value = waiting.pop()
        count += 1
        if count > MOST_VALUES:
            raise FlatlasError(f"{file} has more than {MOST_VALUES:,} values: list fewer.")
        inner: Iterable[tuple[str | int, Any]] = ()
        if isinstance(value, Mapping):
            inner = value.items()
        elif isinstance(value, list | tuple | set | frozenset):
            inner = enumerate(value)
        elif isinstance(value, int) and abs(value) > LONGEST_INTEGER:
            raise FlatlasError(f"{file}: {dotted(place)} is a number of more than 300 digits.")
        for key, one in inner:
            if isinstance(value, Mapping) and not (isinstance(key, str) and _KEY.fullmatch(key)):
                where = dotted(place) or "the top level"
                raise FlatlasError(
                    f"{file}: {where} has the key {str(key)[:80]!r} ({type(key).__name__}). "
                    "Allowed: text of at most 200 characters in one line. Quotes make it text."
                )
            waiting.append(((*place, key), one))
        if len(place) > DEEPEST:
            raise FlatlasError(
                f"{file}: {dotted(place[:4])}… is nested more than {DEEPEST} levels deep."
            )


def merged(below: Mapping[str, Any], above: Mapping[str, Any], name: object = "") -> dict[str, Any]:
    """One tree laid over another: mappings merge, all other values are replaced.

    If the mapping `name` chooses another kind of net, init, schedule or optimizer, it is replaced:
    only the `lr` of an optimizer stays.
    """
    tag, kept = CHOOSING.get(str(name), ("", ()))
    if tag in above and above[tag] != below.get(tag):
        both = {key: below[key] for key in kept if key in below}
    else:
        both = dict(below)
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(both.get(key), Mapping):
            both[key] = merged(both[key], value, key)
        else:
            both[key] = value
    return both


def is_within(key: str, outer: str) -> bool:
    """Whether a dotted key is `outer`, or lies in the mapping at `outer`."""
    return key == outer or key.startswith(f"{outer}.")


def location_of(key: str) -> tuple[str, ...]:
    """The place of a dotted key. The keys of a grid, which has no mappings, keep their dots."""
    match first_and_others := key.split("."):
        case [_, _, "sweeps", _, "grid", _, *_]:
            return (*first_and_others[:5], ".".join(first_and_others[5:]))
    return (*first_and_others,)


def with_value(tree: Any, location: Sequence[str], value: Any) -> dict[str, Any]:
    """A copy of the tree with the value at a place. Mappings on the way are made if needed."""
    head, *rest = location
    inner = tree.get(head, {}) if isinstance(tree, Mapping) else {}
    beside = tree if isinstance(tree, Mapping) else {}
    return {**beside, head: with_value(inner, rest, value) if rest else value}


def with_nulls(tree: Any) -> Any:
    """A copy with None in place of the text 'null': Snakemake reads null in --config as text."""
    if isinstance(tree, Mapping):
        return {key: with_nulls(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [with_nulls(value) for value in tree]
    return None if tree == "null" else tree


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
    """Every value in a tree that is not a mapping, with its place (below `location`)."""
    if not isinstance(tree, Mapping):
        return {location: tree}
    found: dict[Location, Any] = {}
    for key, value in tree.items():
        found |= leaves(value, (*location, key))
    return found


def by_key(tree: Any) -> dict[str, Any]:
    """Every value in a tree that is not a mapping, by its dotted key."""
    return {dotted(place): value for place, value in leaves(tree).items()}
