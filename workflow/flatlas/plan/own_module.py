"""What the text of a user's own module says about a class or function in it.

The module is not imported, because that would load torch and run code. A check of the text reports
only certain mistakes; the job that imports the module finds the others.
"""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from flatlas.errors import FlatlasError, nearest
from flatlas.plan.fingerprint import syntax_tree


class Parameters(NamedTuple):
    """The parameters that a class or function takes by name; `takes_more` if it has **kwargs."""

    names: list[str]
    needed: list[str]
    takes_more: bool
    line: int


def check(module: Path, what: str, arguments: Iterable[str], place: str, place_of: str) -> None:
    """Refuse a name that the module does not define, and arguments that do not suit it.

    In the configuration, `place` names the module, and `place_of` gives the place of an argument.
    """
    text = syntax_tree(module.read_bytes(), module)
    defined = _defined(text)
    if defined is not None and what not in defined:
        raise FlatlasError(
            f"{place}, but {module.name} defines no '{what}'.{nearest(what, defined)}"
        )
    if (takes := _parameters(text, what)) is not None:
        _check_arguments(takes, [*arguments], f"'{what}' ({module.name}:{takes.line})", place_of)


def _check_arguments(takes: Parameters, given: list[str], owner: str, place: str) -> None:
    allowed = f"Allowed: {', '.join(takes.names) or 'none'}."
    for name in given:
        if name not in takes.names and not takes.takes_more:
            raise FlatlasError(
                f"{place} has '{name}', which {owner} does not take. {allowed}"
                f"{nearest(name, takes.names)}"
            )
    if missing := [name for name in takes.needed if name not in given]:
        raise FlatlasError(f"{place} lacks {', '.join(missing)}, which {owner} needs. {allowed}")


def _defined(text: ast.Module) -> set[str] | None:
    """All names that the text defines or imports; None if it may define others."""
    names = {name for node in ast.walk(text) for name in _names(node)}
    return None if "*" in names else names


def _names(node: ast.AST) -> list[str]:
    """The names that a single node defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Name(id=name, ctx=ast.Store()):
            return [name]
        case ast.ImportFrom(names=aliases):
            return [alias.asname or alias.name for alias in aliases]
    return []


def _parameters(text: ast.Module, what: str) -> Parameters | None:
    """The parameters of a top-level class or function; None if the text does not show them.

    A decorator may change them, a class may inherit them, and a name may be defined twice.
    """
    if [name for node in ast.walk(text) for name in _names(node)].count(what) != 1:
        return None
    for node in text.body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=[]) if name == what:
                return _of_function(node, 0)
            case ast.ClassDef(name=name, decorator_list=[], keywords=[]) if name == what:
                return _of_class(node)
    return None


def _of_class(node: ast.ClassDef) -> Parameters | None:
    makers = [one for one in ast.walk(node) if {*_names(one)} & {"__init__", "__new__"}]
    match makers:
        case [ast.FunctionDef(name="__init__", decorator_list=[]) as maker] if maker in node.body:
            return _of_function(maker, 1)
    return None


def _of_function(node: ast.FunctionDef, skipped: int) -> Parameters | None:
    """The parameters of a function. `skipped` is 1 for a method: its first one is the object."""
    said = node.args
    if said.posonlyargs or len(said.args) < skipped:
        return None
    first = len(said.args) - len(said.defaults)
    needed = [one.arg for one in said.args[skipped:first]]
    by_name = zip(said.kwonlyargs, said.kw_defaults, strict=True)
    needed += [one.arg for one, default in by_name if default is None]
    names = [one.arg for one in [*said.args[skipped:], *said.kwonlyargs]]
    return Parameters(names, needed, said.kwarg is not None, node.lineno)
