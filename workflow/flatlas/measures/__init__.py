"""What is measured on a trained network: one module for each measure, with the measure's name.

A measure is a function `measure(solution, options)` that returns tables by name. If many solutions
are measured faster together, it is `measure_stack(solutions, options)`, which returns the tables of
each. The module is imported by name, so a job's fingerprint covers the chosen measure alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import groupby, islice
from typing import Any

from pandas import DataFrame

from flatlas.measures.solution import Solution
from flatlas.measures.tables import checked

# At most so many solutions are measured together.
STACK = 64


def measure(name: str, solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """The tables of one measure of one solution; `options` are the resolved ones of its spec."""
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
    # With batch norm each moment is a network of its own, since the statistics differ.
    for _, waiting in groupby(solutions, key=lambda solution: id(solution.net)):
        while stack := list(islice(waiting, STACK)):
            yield from module.measure_stack(stack, options)
