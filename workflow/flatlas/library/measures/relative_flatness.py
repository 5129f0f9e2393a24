"""The relative flatness of a layer (Petzka et al. 2021): larger is sharper.

It does not change if layers of a ReLU network are rescaled, or outputs of the layer one by one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import nn

from flatlas.errors import FlatlasError, nearest
from flatlas.flatness import relative_flatness
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem
from flatlas.models.objective import Objective
from flatlas.plan.bounds import AtLeastTwo


@dataclass(frozen=True)
class RelativeFlatness(relative_flatness.RelativeFlatness):
    """The relative flatness, and the name of the layer's `weight`."""

    weight: str

    def quantities(self) -> Mapping[str, Quantity]:
        """The relative flatness alone."""
        return {"relative_flatness": Quantity.of(self.flatness)}


def measure(
    problem: Problem, *, weight: str | None = None, probes: AtLeastTwo = 100
) -> RelativeFlatness:
    """The relative flatness of the matrix `weight`; by default of the last measured nn.Linear.

    The matrix is (outputs, inputs). The measure takes at most `probes` products with the Hessian;
    if they are enough, the result is exact.
    """
    name = _last_linear(problem.training) if weight is None else _matrix(problem.training, weight)
    found = relative_flatness.relative_flatness(
        problem.training.of_parameter(name), probes, problem.generator("relative_flatness")
    )
    return RelativeFlatness(**vars(found), weight=name)


def _last_linear(objective: Objective) -> str:
    names = {id(parameter): name for name, parameter in objective.model.named_parameters()}
    linear = [part for part in objective.model.modules() if isinstance(part, nn.Linear)]
    found = [name for part in linear if (name := names.get(id(part.weight))) in objective.shapes]
    if not found:
        raise FlatlasError(
            "none of the measured parameters is the weight of an nn.Linear, so relative_flatness "
            "is not defined. Measure some, or name a matrix (outputs, inputs) as its 'weight'."
        )
    return str(found[-1])


def _matrix(objective: Objective, weight: str) -> str:
    named = objective.model.named_parameters(remove_duplicate=False)
    matrices = [name for name, one in named if one.ndim == 2]
    if weight not in matrices:
        raise FlatlasError(
            f"relative_flatness: weight is '{weight}'. Allowed: a matrix, "
            f"{', '.join(matrices) or 'of which the model has none'}.{nearest(weight, matrices)}"
        )
    return weight
