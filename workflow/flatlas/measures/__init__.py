"""Measures of a trained network. Each measure is a module of the same name.

A measure is a function `measure(solution, options)` that returns tables by name. A measure that is
faster on many solutions together is `measure_stack(solutions, options)`, which returns a list with
the tables of each. The module is imported by name, so a job's fingerprint covers only the chosen
measure.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import groupby, islice
from typing import Any

from pandas import DataFrame

from flatlas.measures.solution import Solution
from flatlas.measures.tables import checked

# The largest number of solutions measured together.
STACK = 64


def measure(name: str, solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """The tables of one measure for one solution; `options` are the spec's resolved options."""
    (tables,) = measure_each(name, [solution], options)
    return tables


def measure_each(
    name: str, solutions: Iterable[Solution], options: Mapping[str, Any]
) -> Iterator[dict[str, DataFrame]]:
    """The tables of one measure for each solution of one realization, in turn."""
    for tables in _measured(name, solutions, options):
        yield checked(name, tables)


def _measured(
    name: str, solutions: Iterable[Solution], options: Mapping[str, Any]
) -> Iterator[dict[str, DataFrame]]:
    module = import_module(f"flatlas.measures.{name}")
    if not hasattr(module, "measure_stack"):
        for solution in solutions:
            yield module.measure(solution, options)
        return
    # With batch norm the statistics differ, so each moment has a separate network.
    for _, waiting in groupby(solutions, key=lambda solution: id(solution.net)):
        while stack := list(islice(waiting, STACK)):
            yield from module.measure_stack(stack, options)
