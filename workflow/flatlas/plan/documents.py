"""Configuration files merged into one tree that remembers which file set each value.

A study file holds the paper's own numbers; a preset lays its changes over it, and the user's
configuration is laid over both. Mappings merge, any other value replaces the earlier one
(flatlas.plan.trees). An error in the merged tree names the file it came from.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from flatlas.errors import FlatlasError, nearest
from flatlas.plan.mistakes import Model, listed, validated
from flatlas.plan.reading import QUICK_LOADER
from flatlas.plan.trees import CHOOSING, Location, at, by_key, check_tree, dotted, has, merged

NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
# In YAML 1.1 leading zeros make a number octal, and colons one to the base 60.
OTHER_BASE = re.compile(r"[-+]?(0[0-9_]+|[^.]*:.*)")


@dataclass(frozen=True)
class Layer:
    """A tree of settings, with its file and its place in the file.

    `written` maps dotted keys of the tree to other keys under which the file has them, and what is
    in them.
    """

    file: str
    tree: Mapping[str, Any]
    prefix: Location = ()
    written: Mapping[str, str] = field(default_factory=dict)

    def place(self, location: Location) -> str:
        """'file: dotted.key' of a location in the tree."""
        for end in range(len(location), 0, -1):
            written = self.written.get(dotted(location[:end]))
            if written:
                return f"{self.file}: {dotted((written, *location[end:]))}"
        return f"{self.file}: {dotted((*self.prefix, *location))}"


class Document:
    """Layers merged into one tree; later layers win."""

    def __init__(self, *layers: Layer) -> None:
        """Merge the layers, the weakest first."""
        self.layers = layers
        self.tree: dict[str, Any] = {}
        for layer in layers:
            self.tree = merged(self.tree, layer.tree)

    def origin(self, location: Location) -> str:
        """'file: dotted.key' of the layer that decides the value at this location.

        The last layer that sets a value decides it. A missing key belongs to the first layer that
        has its mapping, or to the last that chose the net, init, schedule or optimizer.
        """
        there = location
        while not has(self.tree, there):
            there = there[:-1]
        saying = [layer for layer in self.layers if has(layer.tree, there)]
        if there == location or not isinstance(at(self.tree, there), Mapping):
            return saying[-1].place(location)
        tag, _ = CHOOSING.get(str(there[-1]) if there else "", ("", ()))
        choosing = [layer for layer in saying if has(layer.tree, (*there, tag))]
        return (choosing[-1:] or saying)[0].place(location)

    def changes(self) -> dict[str, tuple[Any, Any]]:
        """Dotted keys whose value differs from the first layer's: the first and the final value.

        A value that a layer does not set is None.
        """
        before, now = by_key(self.layers[0].tree), by_key(self.tree)
        return {
            key: (before.get(key), now.get(key))
            for key in {**before, **now}
            if before.get(key) != now.get(key)
        }

    def hint(self, missing: Location) -> str:
        """Suggest an existing entry when a new one lacks a required key.

        Entries of runs, sweeps, measures and figures have free names, so a new entry may be meant.
        """
        if len(missing) != 3:
            return ""
        kind, name, _ = missing
        known = self.layers[0].tree.get(str(kind)) or {}
        if name in known or not known:
            return ""
        return f" '{name}' is new in {kind}, beside {listed([*known])}.{nearest(str(name), known)}"

    def validated(self, model: type[Model]) -> Model:
        """The tree as a model; otherwise an error with a sentence or two for each mistake."""
        return validated(model, self.tree, self.origin, self.hint)


def yaml_files(folder: Path) -> dict[str, Path]:
    """The YAML files in a folder, by their names without the ending."""
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def read_yaml(path: Path) -> dict[str, Any]:
    """The YAML mapping in a file. An error names the file."""
    try:
        try:
            tree = _loaded(path, QUICK_LOADER)
        except yaml.YAMLError:
            # This loader's errors say more than those of libyaml.
            tree = _loaded(path, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        said = " ".join(str(one) for one in (error.context, error.problem) if one)
        raise FlatlasError(f"{path} is not valid YAML{line}: {said}.") from error
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise FlatlasError(f"{path} is not valid YAML, line {number}: save it as UTF-8.") from error
    except (yaml.YAMLError, ValueError) as error:
        raise FlatlasError(f"{path} is not valid YAML: {' '.join(str(error).split())}.") from error
    except OSError as error:
        raise FlatlasError(f"{path} can't be read: {error.strerror}.") from error
    except RecursionError:
        raise FlatlasError(f"{path} is nested too deeply.") from None
    if not isinstance(tree, dict):
        given = "is empty" if tree is None else f"holds a {type(tree).__name__}"
        raise FlatlasError(f"{path} must hold a mapping of keys to values, but {given}.")
    check_tree(tree, str(path))
    return tree


def _loaded(path: Path, kind: Any) -> Any:
    # The whole file at once: in a part of it, an error's line would count from the part's first
    # line.
    loader = kind(path.read_bytes().decode("utf-8"))
    try:
        node = loader.get_single_node()
        _check_nodes(node, path, set())
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def _check_nodes(node: yaml.Node | None, path: Path, checked: set[int]) -> None:
    """Refuse a key that a mapping has twice, of which YAML would silently take the last one.

    Also numbers such as 010, which is 8 in YAML but 10 in --config. A node that is repeated through
    its anchor is checked once.
    """
    if id(node) in checked:
        return
    checked.add(id(node))
    if (
        isinstance(node, yaml.ScalarNode)
        and node.tag in NUMBERS
        and OTHER_BASE.fullmatch(node.value)
    ):
        raise FlatlasError(
            f"{path}, line {node.start_mark.line + 1}: {node.value[:80]} is a number to another "
            "base than 10. Write it without leading zeros and colons, or as text in quotes."
        )
    if isinstance(node, yaml.SequenceNode):
        for one in node.value:
            _check_nodes(one, path, checked)
    if not isinstance(node, yaml.MappingNode):
        return
    lines: dict[str, int] = {}
    for key, value in node.value:
        _check_nodes(key, path, checked)
        _check_nodes(value, path, checked)
        name, line = str(key.value), key.start_mark.line + 1
        if name in lines:
            raise FlatlasError(
                f"{path}, line {line}: the key '{name}' is in line {lines[name]} already, "
                "in the same mapping: make them one."
            )
        lines[name] = line
