"""A fingerprint of exactly the code that a stage's result depends on.

Snakemake sees the text of a script, but not the modules that the script imports. So every rule has,
as a parameter, a hash over the syntax trees of all library modules that its stage imports, directly
or not. A changed comment or docstring reruns nothing; a changed plot retrains nothing.

A spec names a net, an optimizer or a measure, and each is a module of that name. The fingerprint
covers only the chosen module.

A spec may also name a user's own modules, in the folder in which Snakemake works. The fingerprint
then covers everything that they import from that folder. For given weights it covers the bytes of
the file.

`plan` is left out, because all its decisions are in the resolved spec that the job gets; so is
`jobs`, which logs and reports but never changes a result, and `library`, which no stage uses.

A file is parsed once: the result is kept for later commands under a hash of the file's bytes.
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

from flatlas.errors import FlatlasError
from flatlas.plan.kept import all_kept, content_hash, keep, read_kept

LIBRARY = Path(__file__).parents[1]
WEIGHTS = ".safetensors"
WITHOUT_RESULTS = ("flatlas.plan", "flatlas.jobs", "flatlas.library")
# A file's digest and its imports: for each import the number of dots, the module, the names.
Parsed = tuple[str, list[tuple[int, str, list[str]]]]
# The library has fewer than half as many files. After a change of this module all are parsed again.
KEPT_FILES = 1024
# Earlier states of the code, from which a changed fingerprint is explained.
KEPT_STATES = 100
KEPT_NAME = f"files/{content_hash([Path(__file__).read_bytes(), sys.version.encode()])}"


@cache
def fingerprint(*roots: str | Path) -> str:
    """Twelve hexadecimal digits for these modules and all they import.

    A file is given as a path; a file of the library also as a string, as in `training/kernel.c`. A
    file of weights is recognized by its ending.
    """
    digests = {_name(root): module_digest(_path(root)) for root in closure(roots)}
    text = "\n".join(f"{name} {digest}" for name, digest in sorted(digests.items()))
    code = hashlib.sha256(text.encode()).hexdigest()[:12]
    _covered()[code] = digests
    _roots()[code] = roots
    return code


@cache
def _roots() -> dict[str, tuple[str | Path, ...]]:
    """The roots from which each fingerprint of this command was taken."""
    return {}


def edited_since(code: str) -> list[str]:
    """The files behind a fingerprint of this command that have changed since it was taken."""
    files = {_path(root) for root in closure(_roots().get(code, ()))}
    return sorted(shown(path) for path in files if _digest_now(path) != module_digest(path))


@cache
def _covered() -> dict[str, dict[str, str]]:
    """The digests of the modules in each fingerprint of this command, kept for later commands."""
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
    """The modules that differ between an earlier fingerprint and one of this command.

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

    For a user's own file, these include other modules of the user.
    """
    if path.suffix != ".py":
        return frozenset()
    modules: set[str] = set()
    for level, module, names in _parsed(path)[1]:
        source = _from(level, module, path)
        modules.add(source)
        modules.update(f"{source}.{name}" for name in names)
    with_packages = {part for module in modules for part in _with_parents(module)}
    own = is_own(path)
    return frozenset(
        module
        for module in with_packages
        if (module in _library_modules() if _is_in_library(module) else own and find(module))
        and _affects_results(module)
    )


def missing_imports(path: Path) -> list[str]:
    """Modules of the library that one of its files imports by name, but that do not exist."""
    named = {_from(level, module, path) for level, module, _ in _parsed(path)[1] if not level}
    return sorted(one for one in named if _is_in_library(one) and find(one) is None)


def _from(level: int, module: str, path: Path) -> str:
    """The full name of the module imported from. Files may say `from . import layers`."""
    if not level:
        return module
    base = Path.cwd() if is_own(path) else LIBRARY.parent
    package = path.relative_to(base).parts[:-level]
    return ".".join([*package, *([module] if module else [])])


@cache
def _library_modules() -> frozenset[str]:
    """The names of all modules of the library, found in one walk through its folders."""
    names = set()
    for folder, _, files in os.walk(LIBRARY):
        package = ".".join(Path(folder).relative_to(LIBRARY.parent).parts)
        if "__init__.py" in files:
            names.add(package)
        names.update(f"{package}.{file[:-3]}" for file in files if file.endswith(".py"))
    return frozenset(names)


def _is_in_library(module: str) -> bool:
    return module.split(".")[0] == LIBRARY.name


def is_own(path: Path) -> bool:
    """Whether a file is the user's, not one of flatlas."""
    return not path.is_relative_to(LIBRARY.parent)


@cache
def module_digest(path: Path) -> str:
    """A hash of the file's syntax tree without docstrings, the same for every Python.

    For a file not in Python (C, a template, weights), a hash of its bytes.
    """
    return _parsed(path)[0] if path.suffix == ".py" else _bytes_digest(path)


def _digest_now(path: Path) -> str:
    """The digest of a file as it is now; '' if it can't be read or parsed. Threads may call it."""
    try:
        if path.suffix != ".py":
            return _bytes_digest(path)
        source = path.read_bytes()
        return (_kept_files().get(content_hash([source])) or _parse(source, path))[0]
    except (OSError, FlatlasError):
        return ""


def _bytes_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def _parsed(path: Path) -> Parsed:
    """A file's digest and imports; parsed only if no command has seen these bytes before."""
    source = path.read_bytes()
    key, kept = content_hash([source]), _kept_files()
    # Moved to the end: the files used last come last.
    kept[key] = kept.pop(key) if key in kept else _parse(source, path)
    return kept[key]


@cache
def _kept_files() -> dict[str, Any]:
    """The files that earlier commands and this one have parsed; written when the process ends."""
    found = read_kept(KEPT_NAME) or {}
    before = set(found)

    def write() -> None:
        if not before.issuperset(found):
            # Another process may have kept files meanwhile: they come first.
            others = read_kept(KEPT_NAME) or {}
            both = {key: one for key, one in others.items() if key not in found} | found
            keep(KEPT_NAME, dict([*both.items()][-KEPT_FILES:]), at_most=4)

    atexit.register(write)
    return found


def syntax_tree(source: bytes, path: Path) -> ast.Module:
    """The syntax tree of a file. If it is not valid Python, the error names the line."""
    try:
        return ast.parse(source, str(path))
    except (SyntaxError, ValueError) as error:
        raise not_python(error, path) from error


def not_python(error: Exception, path: Path) -> FlatlasError:
    """The error for a file that is not valid Python; it names the line, if Python does."""
    line = getattr(error, "lineno", None)
    place = f"{shown(path)}, line {line}" if line else shown(path)
    return FlatlasError(f"{place}: {getattr(error, 'msg', error)}.")


def _parse(source: bytes, path: Path) -> Parsed:
    tree = syntax_tree(source, path)
    imported: list[tuple[int, str, list[str]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [(0, alias.name, []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            imported.append((node.level, node.module or "", names))
    tokens: list[str] = []
    _add_tokens(tree, tokens)
    return hashlib.sha256("".join(tokens).encode()).hexdigest(), imported


def _add_tokens(node: object, tokens: list[str]) -> None:
    if isinstance(node, ast.AST):
        tokens.append(type(node).__name__ + "(")
        for name, value in ast.iter_fields(node):
            if name == "body" and isinstance(value, list):
                value = _without_docstring(node, value)
            # An empty field is left out: Python versions differ in which ones they have.
            if value not in (None, []):
                tokens.append(name + "=")
                _add_tokens(value, tokens)
        tokens.append(")")
    elif isinstance(node, list):
        for item in node:
            _add_tokens(item, tokens)
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


def _affects_results(module: str) -> bool:
    return not any(module == one or module.startswith(one + ".") for one in WITHOUT_RESULTS)


def find(module: str) -> Path | None:
    """The file of a module: of the library, or a user's own in Snakemake's working folder."""
    base = (LIBRARY.parent if _is_in_library(module) else Path.cwd()).joinpath(*module.split("."))
    # As Python does, take a package before a module of the same name.
    candidates = (base / "__init__.py", base.with_suffix(".py"))
    # Path.is_file would raise an error for a name that is too long for a file.
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
    """A file's path as messages show it: relative to the repository if it is in it."""
    top = LIBRARY.parents[1]
    return str(path.relative_to(top) if path.is_relative_to(top) else path)


def _name(root: str | Path) -> str:
    return root.name if isinstance(root, Path) else root
