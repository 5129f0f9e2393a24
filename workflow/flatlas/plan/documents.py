"""Configuration files laid over each other, remembering which file said what.

A study file holds the paper's own numbers; a preset lays its changes over it, and the user's
configuration lays its own over both. Mappings merge, everything else replaces. An error in the
merged tree is told in the words of the file it came from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from flatlas.errors import FlatlasError, nearest

Model = TypeVar("Model", bound=BaseModel)
Location = tuple[str | int, ...]
Origin = Callable[[Location], str]
Hint = Callable[[Location], str]


@dataclass(frozen=True)
class Layer:
    """A tree of settings and the file, and the place in it, where it stands."""

    file: str
    tree: Mapping[str, Any]
    prefix: Location = ()


class Document:
    """Layers merged into one tree; later layers win."""

    def __init__(self, *layers: Layer) -> None:
        """Merge the layers, the weakest first."""
        self.layers = layers
        self.tree: dict[str, Any] = {}
        for layer in layers:
            self.tree = _merged(self.tree, layer.tree)

    def origin(self, location: Location) -> str:
        """'file: dotted.key' of the layer that decides what is found at this location.

        What is there was said last by the strongest layer. What is missing in a mapping, which
        layers fill together, is missing in the layer that began the mapping.
        """
        there = location
        while not _has(self.tree, there):
            there = there[:-1]
        saying = [layer for layer in self.layers if _has(layer.tree, there)]
        missing = there != location and isinstance(_at(self.tree, there), Mapping)
        layer = saying[0] if missing else saying[-1]
        return f"{layer.file}: {dotted((*layer.prefix, *location))}"

    def changes(self) -> dict[str, tuple[Any, Any]]:
        """Each dotted key whose value is not the first layer's: what that says, and what holds.

        None where a layer says nothing.
        """
        before, now = _leaves(self.layers[0].tree), _leaves(self.tree)
        return {
            dotted(place): (before.get(place), now.get(place))
            for place in {**before, **now}
            if before.get(place) != now.get(place)
        }

    def hint(self, missing: Location) -> str:
        """Whose name may be mistyped, where a later layer begins an entry and leaves a key out.

        Entries (of runs, sweeps, measures, figures) are named freely: a whole one may be new.
        """
        if len(missing) != 3:
            return ""
        kind, name, _ = missing
        known = self.layers[0].tree.get(str(kind)) or {}
        close = "" if name in known else nearest(str(name), known)
        return f" '{name}' is new here.{close}" if close else ""

    def validated(self, model: type[Model]) -> Model:
        """The tree as a model, or an error in a sentence or two for each mistake."""
        return validated(model, self.tree, self.origin, self.hint)


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML mapping from a file; an unreadable one is named."""
    try:
        with path.open(encoding="utf-8") as file:
            tree = yaml.load(file, _EachKeyOnce)
    except yaml.YAMLError as error:
        raise FlatlasError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(tree, dict):
        raise FlatlasError(f"{path} must hold a mapping of keys to values.")
    return tree


class _EachKeyOnce(yaml.SafeLoader):
    """Refuses a key that a mapping has twice, of which YAML would quietly take the last."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        mapping = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key, _ in mapping.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in lines:
                raise FlatlasError(
                    f"{self.name}, line {line}: the key '{name}' is in line {lines[name]} already, "
                    "in the same mapping: make them one."
                )
            lines[name] = line
        return mapping


def dotted(location: Sequence[str | int]) -> str:
    """('runs', 'base', 'batch') as 'runs.base.batch'."""
    return ".".join(str(part) for part in location)


def validated(
    model: type[Model], tree: Any, origin: Origin, hint: Hint = lambda missing: ""
) -> Model:
    """`tree` as a `model`; `origin` turns a location in the tree into 'file: dotted.key'.

    `hint` has something to add about a key that is missing at a location.
    """
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        mistakes: dict[str, _Mistake] = {}
        for problem in _without_echoes(error.errors()):
            mistake = _mistake(model, tree, problem, origin, hint)
            mistakes.setdefault(mistake.said, mistake).allowed.extend(
                one for one in mistake.allowed if one not in mistakes[mistake.said].allowed
            )
        raise FlatlasError("\n".join(map(str, mistakes.values()))) from None


def _without_echoes(problems: Sequence[Any]) -> list[Any]:
    """Pydantic also calls a list too short of which it took no element, for each was wrong."""
    return [
        one
        for one in problems
        if one["type"] != "too_short"
        or not any(
            other["loc"][: len(one["loc"])] == one["loc"] for other in problems if other is not one
        )
    ]


@dataclass
class _Mistake:
    """What is wrong, where; what would be right. Alternatives of a union come one by one."""

    said: str
    allowed: list[str]
    given: str = ""
    hint: str = ""

    def __str__(self) -> str:
        if not self.allowed:
            return f"{self.said}.{self.hint}"
        return (
            f"{self.said}. Allowed: {', '.join(self.allowed)}.{nearest(self.given, self.allowed)}"
        )


def _mistake(
    model: type[BaseModel], tree: Any, problem: Any, origin: Origin, hint: Hint
) -> _Mistake:
    """One of pydantic's problems in our words."""
    location, known = _located(tree, problem["loc"], model)
    kind, context, given = problem["type"], problem.get("ctx", {}), problem.get("input")
    if kind == "extra_forbidden":
        return _Mistake(
            f"{origin(location)} is not a key that is known here", known, str(location[-1])
        )
    if kind == "missing":
        return _Mistake(f"{origin(location)} is missing", [], hint=hint(location))
    if kind.startswith("union_tag"):
        location = (*location, context["discriminator"].strip("'"))
        if kind == "union_tag_not_found":
            return _Mistake(f"{origin(location)} is missing", [])
        given = context["tag"]
        return _Mistake(f"{origin(location)} is {given!r}", _names(context["expected_tags"]), given)
    while not _has(tree, location):
        location = location[:-1]
    if kind == "value_error":
        return _Mistake(f"{origin(location)}: {context['error']}", [])
    said = f"{origin(location)} is {given!r}"
    if kind == "literal_error":
        return _Mistake(said, _names(context["expected"]), str(given))
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        return _Mistake(said, ["a mapping of keys to values"])
    # After the comma pydantic says how it tried.
    allowed = problem["msg"].removeprefix("Input should be ").partition(",")[0]
    allowed = allowed.replace("a valid tuple", "a list")
    return _Mistake(said, [allowed], str(given))


def _names(listed: str) -> list[str]:
    """["a", "b"] from pydantic's "'a' or 'b'"."""
    return [name.strip().strip("'") for name in listed.replace(" or ", ",").split(",")]


def _located(tree: Any, loc: Location, model: type[BaseModel]) -> tuple[Location, list[str]]:
    """Pydantic's location without the tags of unions, and the keys known at its last step."""
    path: list[str | int] = []
    here: list[Any] = [model]
    for step, part in enumerate(loc):
        tagged = [kind for kind in here if _is_model(kind) and _tag(kind) == part]
        if tagged and not _has(tree, (*path, part)):
            here = tagged
            continue
        path.append(part)
        if step < len(loc) - 1:
            here = [inner for kind in here for inner in _inside(kind, part)]
    known = {name for kind in here if _is_model(kind) for name in kind.model_fields}
    return tuple(path), sorted(known)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _tag(kind: type[BaseModel]) -> Any:
    """The value by which a tagged union knows this member: its first field admits no other."""
    return next(iter(get_args(next(iter(kind.model_fields.values())).annotation)), None)


def _inside(kind: Any, step: str | int) -> list[Any]:
    """The types that may stand one step further in: of a field, or of a container's elements."""
    if _is_model(kind):
        field = kind.model_fields.get(str(step))
        return _alternatives(field.annotation) if field else []
    return [inner for element in get_args(kind) for inner in _alternatives(element)]


def _alternatives(kind: Any) -> list[Any]:
    """The members of a union (however annotated), or the type itself."""
    if get_origin(kind) in (Union, UnionType, Annotated):
        return [inner for member in get_args(kind) for inner in _alternatives(member)]
    return [kind]


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = _merged(merged[key], value)
        else:
            merged[key] = value
    return merged


def _leaves(tree: Mapping[str, Any], place: Location = ()) -> dict[Location, Any]:
    """Every value that is no mapping, by where it stands."""
    leaves: dict[Location, Any] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            leaves |= _leaves(value, (*place, key))
        else:
            leaves[(*place, key)] = value
    return leaves


def _has(tree: Any, location: Location) -> bool:
    for part in location:
        keyed = isinstance(tree, Mapping) and part in tree
        listed = isinstance(tree, list) and isinstance(part, int) and part < len(tree)
        if not (keyed or listed):
            return False
        tree = tree[part]
    return True


def _at(tree: Any, location: Location) -> Any:
    for part in location:
        tree = tree[part]
    return tree
