"""A solution after an α-scaling (Dinh et al. 2017): other weights, the same function."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from flatlas.measures.solution import Solution
from flatlas.nets.rescaling import rescaled


def under_scaling(
    solution: Solution, options: Mapping[str, Any]
) -> Iterator[tuple[float, Solution]]:
    """Each of the `factors` α, with the solution whose `layer` is scaled by it."""
    for factor in options["factors"]:
        if factor == 1:
            yield factor, solution
        else:
            scaled = rescaled(solution.net, solution.parameters, options["layer"], factor)
            yield factor, replace(solution, parameters=scaled)
