"""The relative flatness of a layer (Petzka et al. 2021): larger is sharper.

Rescaling whole layers of a ReLU network, or single outputs of the layer, does not change it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from flatlas.errors import FlatlasError, nearest
from flatlas.flatness import relative_flatness
from flatlas.hessian.round_off import COARSE
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem
from flatlas.models.dependence import unused
from flatlas.models.objective import Objective
from flatlas.plan.bounds import AtLeastTwo


@dataclass(frozen=True)
class RelativeFlatness(relative_flatness.RelativeFlatness):
    """The relative flatness, and the name of the layer's `weight`.

    `precise` is false in half precision.
    """

    weight: str
    precise: bool

    def quantities(self) -> Mapping[str, Quantity]:
        """The relative flatness alone."""
        return {"relative_flatness": Quantity.of(self.flatness, self.precise)}


def measure(
    problem: Problem, *, weight: str | None = None, probes: AtLeastTwo = 100
) -> RelativeFlatness:
    """The relative flatness of the matrix `weight`; by default of the last measured nn.Linear.

    `weight` is a parameter's name, as in "2.weight", and its shape is (outputs, inputs). The
    measure takes at most `probes` products with the Hessian; if they are enough, the result is
    exact.
    """
    name = _name(problem.training, weight)
    objective = problem.training.of_parameter(name)
    found = relative_flatness.relative_flatness(
        objective, probes, problem.generator("relative_flatness")
    )
    precise = objective.round_off() <= COARSE
    return RelativeFlatness(**vars(found), weight=name, precise=precise)


def check(problem: Problem, *, weight: str | None, **_: Any) -> None:
    """Raise an error if there is no such matrix, or the loss does not depend on it."""
    name = _name(problem.training, weight)
    if unused(problem.training.of_parameter(name)):
        raise FlatlasError(
            f"the loss does not depend on '{name}', so its relative_flatness says nothing. Name "
            "another matrix as 'weight'."
        )


def _name(objective: Objective, weight: str | None) -> str:
    return _last_linear(objective) if weight is None else _matrix(objective, weight)


def _last_linear(objective: Objective) -> str:
    names = {id(parameter): name for name, parameter in objective.model.named_parameters()}
    found: list[tuple[str, str | None]] = []
    for layer, part in objective.model.named_modules():
        if not isinstance(part, nn.Linear):
            continue
        if "weight" not in part._parameters:
            # The weight is computed from the layer's own parameters, except its bias.
            own = {names[id(one)] for name, one in part.named_parameters() if name != "bias"}
            if not own.isdisjoint(objective.shapes):
                found.append((layer, None))
        elif (name := names[id(part.weight)]) in objective.shapes:
            found.append((layer, name))
    if not found:
        raise FlatlasError(
            "none of the measured parameters is the weight of an nn.Linear, so relative_flatness "
            "is not defined. Measure one, or name a matrix (outputs, inputs) as its 'weight'."
        )
    layer, last = found[-1]
    if last is None:
        raise FlatlasError(
            f"the weight of the last nn.Linear, '{layer}', is not a parameter (as with weight norm "
            "or pruning), so relative_flatness is not defined. Make it a parameter, as by "
            "torch.nn.utils.parametrize.remove_parametrizations, or name another matrix as "
            "'weight'."
        )
    return last


def _computes_another(model: nn.Module, name: str) -> bool:
    """Whether a parametrization, weight norm or pruning computes a layer's weight from it."""
    path, _, own = name.rpartition(".")
    computed, _, _ = own.rpartition("_")
    part = model.get_submodule(path)
    is_computed = isinstance(getattr(part, computed, None), Tensor)
    instead = is_computed and computed not in part._parameters
    return instead or "parametrizations" in path.split(".")


def _matrix(objective: Objective, weight: str) -> str:
    named = objective.model.named_parameters(remove_duplicate=False)
    matrices = [
        name
        for name, one in named
        if one.ndim == 2 and not _computes_another(objective.model, name)
    ]
    if weight not in matrices:
        raise FlatlasError(
            f"relative_flatness: weight is '{weight}'. Allowed: a matrix, "
            f"{', '.join(matrices) or 'of which the model has none'}.{nearest(weight, matrices)}"
        )
    return weight
