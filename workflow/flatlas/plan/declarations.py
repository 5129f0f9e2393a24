"""Finds the modules of a package, and the classes that a configuration names by their tags."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar, get_args

from flatlas.errors import FlatlasError, named
from flatlas.plan.fingerprint import LIBRARY, find, not_python, shown

if TYPE_CHECKING:
    from pydantic import BaseModel

# For each key of a tag: the package that must have a module of the tag's name, the functions that
# this module may have (one is required), and the page that says how to add such a module.
IMPLEMENTED = {
    "kind": ("flatlas.data.sources", ("load",), "docs/bring-your-own.md"),
    "family": ("flatlas.nets", ("build",), "docs/add-a-net.md"),
    "name": ("flatlas.training.optimizers", ("build",), "docs/add-an-optimizer.md"),
    "measure": ("flatlas.measures", ("measure", "measure_stack"), "docs/add-a-measure.md"),
}

Declared = TypeVar("Declared", bound="BaseModel")


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    """Every module of a package, by name."""
    for found in iter_modules(package.__path__):
        yield load(f"{package.__name__}.{found.name}")


def load(name: str) -> ModuleType:
    """Import a module of the library. An error names its file and, if known, the line."""
    try:
        return import_module(name)
    except FlatlasError as error:
        raise FlatlasError(f"{file_of(name)}: {error}") from error
    except SyntaxError as error:
        path = Path(error.filename) if error.filename else find(name) or LIBRARY
        raise not_python(error, path) from error
    except Exception as error:
        frames = extract_tb(error.__traceback__)
        # The first frame of the library is the loaded module; later ones are modules that it
        # imports.
        file = next(one.filename for one in frames if one.name == "<module>")
        line = [one.lineno for one in frames if one.filename == file][-1]
        why = named(error).partition("\n")[0]
        raise FlatlasError(f"{file_of(name)}, line {line}: {why}") from error


def by_tag(kinds: Iterable[type[Declared]], key: str) -> dict[str, type[Declared]]:
    """Classes by their tags. A class declares its tag as `key: Literal["<tag>"]`."""
    found: dict[str, type[Declared]] = {}
    for kind in kinds:
        tags = get_args(kind.model_fields[key].annotation)
        place = f"{file_of(kind.__module__)}: {kind.__name__}"
        if len(tags) != 1:
            *_, page = IMPLEMENTED[key]
            raise FlatlasError(
                f'{place} has no tag {key}: Literal["<name>"]. {page} has an example.'
            )
        other = found.setdefault(str(tags[0]), kind)
        if other is not kind:
            raise FlatlasError(f"{place} has the tag '{tags[0]}' of {other.__name__}: change it.")
    return found


def undeclared(key: str, tag: str) -> str:
    """What to do about an unknown tag if its function exists; empty if it does not."""
    package, _, page = IMPLEMENTED.get(key, ("", (), ""))
    module = f"{package}.{tag}"
    if not package or find(module) is None:
        return ""
    return f" {file_of(module)} exists, but is not declared: see {page}."


def file_of(module: str) -> str:
    """The file of a module of the library as messages show it, whether or not it exists."""
    path = find(module) or LIBRARY.parent.joinpath(*module.split(".")).with_suffix(".py")
    return shown(path)
