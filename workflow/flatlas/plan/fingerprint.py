"""A fingerprint of exactly the code that a stage's result depends on.

Snakemake sees a script's text, never the modules it imports. So every rule carries, as a
parameter, a hash over the syntax trees of the library modules that its stage imports, one
through another. A comment or a docstring changes nothing; a changed plot retrains nothing.

What a spec picks by name (a net, an optimizer, a measure) is imported by that name, one module
each, so the fingerprint holds the chosen one and none of the others.

Modules of a user's own, which a spec names too, lie in the folder in which Snakemake works. Theirs
holds all that they import from that folder.

Left out are `plan`, whose every decision stands in the resolved spec that the job is given, and
`jobs`, which logs and reports but never touches a result.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

LIBRARY = Path(__file__).parents[1]
WITHOUT_RESULTS = ("flatlas.plan", "flatlas.jobs")


def fingerprint(*roots: str | Path) -> str:
    """Twelve hexadecimal digits for these modules (or script files) and all they import."""
    return _fingerprint(frozenset(roots))


@cache
def _fingerprint(roots: frozenset[str | Path]) -> str:
    digests = {_name(root): module_digest(_path(root)) for root in closure(roots)}
    text = "\n".join(f"{name} {digest}" for name, digest in sorted(digests.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


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
    """The flatlas modules that this file imports, wherever in it the import stands.

    A file of the user's own imports others of these, too.
    """
    modules: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = _from(node, path)
            modules.add(source)
            modules.update(f"{source}.{alias.name}" for alias in node.names)
    with_packages = {part for module in modules for part in _with_parents(module)}
    return frozenset(
        module
        for module in with_packages
        if (_is_ours(module) or _is_own(path)) and _counts(module) and find(module)
    )


def _from(node: ast.ImportFrom, path: Path) -> str:
    """What a file imports from, in full: ours and own ones may say `from . import layers`."""
    if not node.level:
        return node.module or ""
    base = Path.cwd() if _is_own(path) else LIBRARY.parent
    package = path.relative_to(base).parts[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == LIBRARY.name


def _is_own(path: Path) -> bool:
    return not path.is_relative_to(LIBRARY.parent)


@cache
def module_digest(path: Path) -> str:
    """A hash of the file's syntax tree without docstrings, the same for every Python."""
    tokens: list[str] = []
    _tell(_tree(path), tokens)
    return hashlib.sha256("".join(tokens).encode()).hexdigest()


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


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
    return not any(module == room or module.startswith(room + ".") for room in WITHOUT_RESULTS)


def find(module: str) -> Path | None:
    """The file of one of ours, or of a user's own in the folder in which Snakemake works."""
    base = (LIBRARY.parent if _is_ours(module) else Path.cwd()).joinpath(*module.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def _path(root: str | Path) -> Path:
    if isinstance(root, Path):
        return root
    path = find(root)
    if path is None:
        raise ModuleNotFoundError(f"no module {root} in {LIBRARY} or {Path.cwd()}")
    return path


def _name(root: str | Path) -> str:
    return root.name if isinstance(root, Path) else root
