"""Checks that each net family, optimizer, measure and source of a plan has its function."""

import re
from typing import TYPE_CHECKING

from flatlas.errors import FlatlasError
from flatlas.plan.declarations import IMPLEMENTED, file_of
from flatlas.plan.fingerprint import LIBRARY, find

if TYPE_CHECKING:
    from flatlas.plan.plan import Plan


def check_modules(plan: "Plan") -> None:
    """Refuse a name whose module or function is missing, before anything is trained."""
    named: set[tuple[str, str]] = {("kind", source.kind) for source in plan.sources.values()}
    for run in plan.runs.values():
        named |= {("family", run.net.family), ("name", run.optimizer.name)}
    for measured in plan.measurements.values():
        named.add(("measure", measured.options.measure))
    for key, name in sorted(named):
        _check(key, name)


def what_is_checked() -> list[tuple[str, list[str]]]:
    """The functions of each module that a plan may name."""
    modules = [
        f"{package}.{path.stem}"
        for package, _, _ in IMPLEMENTED.values()
        for path in sorted(LIBRARY.parent.joinpath(*package.split(".")).glob("*.py"))
    ]
    return [(module, _functions(module)) for module in modules]


def _check(key: str, name: str) -> None:
    package, needed, page = IMPLEMENTED[key]
    module = f"{package}.{name}"
    if not set(needed) & set(_functions(module)):
        lacks = "does not exist" if find(module) is None else f"has no function {needed[0]}"
        raise FlatlasError(f"'{name}' is declared, but {file_of(module)} {lacks}: see {page}.")


def _functions(module: str) -> list[str]:
    path = find(module)
    return re.findall(r"^def (\w+)\(", path.read_text("utf-8"), re.MULTILINE) if path else []
