"""What is measured on a trained net: one module a measure, found by its name.

A measure is a function `measure(solution, options)` that returns its tables by name or, where many
solutions are measured quicker together, `measure_stack(solutions, options)`, which returns the
tables of each. It is imported by name, so that a stage's fingerprint holds the chosen measure and
none of the others.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import groupby, islice
from typing import Any

from pandas import DataFrame

from flatlas.measures.solution import Solution

# Solutions that are measured together at most.
STACK = 64


def measure(name: str, solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """The tables of one measure on one solution; `options` are the resolved ones of its spec."""
    (tables,) = measure_each(name, [solution], options)
    return tables


def measure_each(
    name: str, solutions: Iterable[Solution], options: Mapping[str, Any]
) -> Iterator[dict[str, DataFrame]]:
    """The tables of one measure on solutions of one realization, one after another."""
    module = import_module(f"flatlas.measures.{name}")
    if not hasattr(module, "measure_stack"):
        for solution in solutions:
            yield module.measure(solution, options)
        return
    # Moments of a net with batch norm are nets of their own: their statistics differ.
    for _, waiting in groupby(solutions, key=lambda solution: id(solution.net)):
        while stack := list(islice(waiting, STACK)):
            yield from module.measure_stack(stack, options)
