"""What is measured on a trained net: one module a measure, found by its name.

A measure is a function `measure(solution, options)` that returns its tables by name. It is
imported by name, so that a stage's fingerprint holds the chosen measure and none of the others.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pandas import DataFrame

from flatlas.measures.solution import Solution


def measure(name: str, solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """The tables of one measure on one solution; `options` are the resolved ones of its spec."""
    tables: dict[str, DataFrame] = import_module(f"flatlas.measures.{name}").measure(
        solution, options
    )
    return tables
