"""A fingerprint of exactly the code that a stage's result depends on.

Snakemake sees a script's text, never the modules it imports. So every rule carries, as a
parameter, a hash over the syntax trees of the library modules that its stage imports, one
through another. A comment or a docstring changes nothing; a changed plot retrains nothing.

A net, an optimizer or a measure is chosen by name in a spec and imported by that name, one module
each. The fingerprint covers only the chosen one.

A spec may also name a user's own modules, in the folder in which Snakemake works. Their fingerprint
covers everything that they import from that folder. Of given weights it covers the bytes.

`plan` is left out, because all its decisions are in the resolved spec that the job gets; so is
`jobs`, which logs and reports but never changes a result, and `library`, which no stage uses.

A file is parsed once: what was found in it is kept for later commands, by a hash of its bytes.
"""

import ast
import atexit
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from flatlas.plan.kept import all_kept, content_hash, keep, read_kept

LIBRARY = Path(__file__).parents[1]
WEIGHTS = ".safetensors"
WITHOUT_RESULTS = ("flatlas.plan", "flatlas.jobs", "flatlas.library")
# Of a file, its digest and its imports: for each how many dots, the module, the names from it.
Parsed = tuple[str, list[tuple[int, str, list[str]]]]
# The library has fewer files than half of that; a change of this module begins from nothing.
KEPT_FILES = 1024
# States of the code that a changed fingerprint can be explained from.
KEPT_STATES = 100
KEPT_NAME = f"files/{content_hash([Path(__file__).read_bytes(), sys.version.encode()])}"


def fingerprint(*roots: str | Path) -> str:
    """Twelve hexadecimal digits for these modules and all they import.

    A file is given as a path, one of the library also as a string: `training/kernel.c`. Given
    weights are known by their ending.
    """
    return _fingerprint(frozenset(roots))


@cache
def _fingerprint(roots: frozenset[str | Path]) -> str:
    digests = {_name(root): module_digest(_path(root)) for root in closure(roots)}
    text = "\n".join(f"{name} {digest}" for name, digest in sorted(digests.items()))
    code = hashlib.sha256(text.encode()).hexdigest()[:12]
    _covered()[code] = digests
    return code


@cache
def _covered() -> dict[str, dict[str, str]]:
    """For each fingerprint of this command, the digests of its modules; kept for later commands."""
    covered: dict[str, dict[str, str]] = {}

    def write() -> None:
        modules = {name: one[:12] for digests in covered.values() for name, one in digests.items()}
        state = {"modules": modules, "codes": sorted(covered)}
        name = f"states/{content_hash([json.dumps(state, sort_keys=True).encode()])}"
        if read_kept(name) is None:
            keep(name, state, KEPT_STATES)

    atexit.register(write)
    return covered


def changed_modules(before: str, now: str) -> list[str]:
    """The modules under a fingerprint of this command that differ from those under an earlier one.

    Empty if no recent command on this machine computed the earlier one.
    """
    for state in all_kept("states"):
        if state and before in state["codes"]:
            earlier, covered = state["modules"], _covered()[now]
            return sorted(name for name, one in covered.items() if earlier.get(name) != one[:12])
    return []


def closure(roots: Iterable[str | Path]) -> set[str | Path]:
    """The roots and every flatlas module that they import, directly or not."""
    found: set[str | Path] = set()
    waiting = list(roots)
    while waiting:
        root = waiting.pop()
        if root not in found:
            found.add(root)
            waiting.extend(imports(_path(root)))
    return found


@cache
def imports(path: Path) -> frozenset[str]:
    """The flatlas modules that this file imports, anywhere in the file.

    A file of the user's own imports others of these, too.
    """
    if path.suffix != ".py":
        return frozenset()
    modules: set[str] = set()
    for level, module, names in _parsed(path)[1]:
        source = _from(level, module, path)
        modules.add(source)
        modules.update(f"{source}.{name}" for name in names)
    with_packages = {part for module in modules for part in _with_parents(module)}
    own = _is_own(path)
    return frozenset(
        module
        for module in with_packages
        if (module in _ours() if _is_ours(module) else own and find(module)) and _counts(module)
    )


def missing_imports(path: Path) -> list[str]:
    """The modules of the library that a file of it imports by name, and that are not there."""
    named = {_from(level, module, path) for level, module, _ in _parsed(path)[1] if not level}
    return sorted(one for one in named if _is_ours(one) and find(one) is None)


def _from(level: int, module: str, path: Path) -> str:
    """What a file imports from, in full: ours and own ones may say `from . import layers`."""
    if not level:
        return module
    base = Path.cwd() if _is_own(path) else LIBRARY.parent
    package = path.relative_to(base).parts[:-level]
    return ".".join([*package, *([module] if module else [])])


@cache
def _ours() -> frozenset[str]:
    """The names of all modules of the library, from one look at its folders."""
    names = set()
    for folder, _, files in os.walk(LIBRARY):
        package = ".".join(Path(folder).relative_to(LIBRARY.parent).parts)
        if "__init__.py" in files:
            names.add(package)
        names.update(f"{package}.{file[:-3]}" for file in files if file.endswith(".py"))
    return frozenset(names)


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == LIBRARY.name


def _is_own(path: Path) -> bool:
    return not path.is_relative_to(LIBRARY.parent)


@cache
def module_digest(path: Path) -> str:
    """A hash of the file's syntax tree without docstrings, the same for every Python.

    Of any other file (C, a template, weights) it is a hash of its bytes.
    """
    if path.suffix != ".py":
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return _parsed(path)[0]


@cache
def _parsed(path: Path) -> Parsed:
    """A file's digest and imports; parsed only if no command has seen these bytes before."""
    source = path.read_bytes()
    key, kept = content_hash([source]), _kept_files()
    # Those used last come last.
    kept[key] = kept.pop(key) if key in kept else _parse(source.decode("utf-8"), path)
    return kept[key]


@cache
def _kept_files() -> dict[str, Any]:
    """What earlier commands have parsed, and this one; written when the process ends."""
    found = read_kept(KEPT_NAME) or {}
    before = set(found)

    def write() -> None:
        if not before.issuperset(found):
            # After what another process has kept meanwhile.
            others = read_kept(KEPT_NAME) or {}
            both = {key: one for key, one in others.items() if key not in found} | found
            keep(KEPT_NAME, dict([*both.items()][-KEPT_FILES:]), at_most=4)

    atexit.register(write)
    return found


def _parse(source: str, path: Path) -> Parsed:
    tree = ast.parse(source, str(path))
    imported: list[tuple[int, str, list[str]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [(0, alias.name, []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            imported.append((node.level, node.module or "", names))
    tokens: list[str] = []
    _tell(tree, tokens)
    return hashlib.sha256("".join(tokens).encode()).hexdigest(), imported


def _tell(node: object, tokens: list[str]) -> None:
    if isinstance(node, ast.AST):
        tokens.append(type(node).__name__ + "(")
        for name, value in ast.iter_fields(node):
            if name == "body" and isinstance(value, list):
                value = _without_docstring(node, value)
            # An empty field is left out: Python versions differ in which ones they have.
            if value not in (None, []):
                tokens.append(name + "=")
                _tell(value, tokens)
        tokens.append(")")
    elif isinstance(node, list):
        for item in node:
            _tell(item, tokens)
            tokens.append(",")
    else:
        tokens.append(repr(node))


def _without_docstring(node: ast.AST, body: list[ast.stmt]) -> list[ast.stmt]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
        return body[1:]
    return body


def _with_parents(module: str) -> Iterator[str]:
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        yield ".".join(parts[:length])


def _counts(module: str) -> bool:
    return not any(module == one or module.startswith(one + ".") for one in WITHOUT_RESULTS)


def find(module: str) -> Path | None:
    """The file of one of ours, or of a user's own in the folder in which Snakemake works."""
    base = (LIBRARY.parent if _is_ours(module) else Path.cwd()).joinpath(*module.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    # Of a name that is too long for a file, Path.is_file raises an error.
    return next((path for path in candidates if os.path.isfile(path)), None)


@cache
def _path(root: str | Path) -> Path:
    if isinstance(root, Path):
        return root
    if root.endswith(WEIGHTS) and Path(root).is_file():
        return Path(root)
    path = LIBRARY / root if "/" in root else find(root)
    if path is None:
        raise ModuleNotFoundError(f"no module {root} in {LIBRARY} or {Path.cwd()}")
    return path


def shown(path: Path) -> str:
    """A file as messages show it: in this repository from its top."""
    top = LIBRARY.parents[1]
    return str(path.relative_to(top) if path.is_relative_to(top) else path)


def _name(root: str | Path) -> str:
    return root.name if isinstance(root, Path) else root
