"""The size of the weights, their distance from the start, and the margins of the model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from flatlas.errors import FlatlasError
from flatlas.library.checkpoint import Checkpoint, weights_at
from flatlas.library.classes import margins as class_margins
from flatlas.library.defined import where_defined
from flatlas.library.found import Quantity
from flatlas.library.path_norm import path_norm as norm_of_paths
from flatlas.library.problem import Problem

# The lowest margin depends on one example, so this quantile is listed too.
TENTH = 0.1


@dataclass(frozen=True)
class Norms:
    """Norms of the weights, and margins; None if undefined for the model, or unknown."""

    weight_norm: float
    distance: float | None
    path_norm: float | None
    margin_lowest: float | None
    margin_tenth: float | None

    def quantities(self) -> Mapping[str, Quantity]:
        """The numbers that are known."""
        return {name: Quantity(value) for name, value in vars(self).items() if value is not None}


def measure(
    problem: Problem,
    *,
    initial: Checkpoint | None = None,
    path_norm: bool | None = None,
    margins: bool | None = None,
) -> Norms:
    """|w|, its distance from `initial`, the path norm, and margins on the training data.

    `initial` is a state_dict or a model; without it there is no distance. The `path_norm` needs a
    chain of dense layers with ReLU, and is that of all parameters; `margins` need a classifier. By
    default both are left out for other models; True raises an error, and False leaves them out.
    """
    objective = problem.training
    start = None if initial is None else weights_at(initial, objective, "initial")
    taken = where_defined(margins, lambda: class_margins(objective, objective.w))
    if taken is not None and not len(taken):
        raise FlatlasError("norms: no example has a label that counts, so there is no margin.")
    return Norms(
        weight_norm=objective.w.norm().item(),
        distance=None if start is None else (objective.w - start).norm().item(),
        path_norm=where_defined(path_norm, lambda: norm_of_paths(objective.model)),
        margin_lowest=None if taken is None else taken.min().item(),
        # By numpy: torch's quantile takes at most 16 million numbers.
        margin_tenth=None if taken is None else float(np.quantile(taken.cpu().numpy(), TENTH)),
    )


def check(
    problem: Problem,
    *,
    initial: Checkpoint | None,
    path_norm: bool | None,
    margins: bool | None,
) -> None:
    """Raise an error if `initial` is another model, or if what is requested is undefined."""
    objective = problem.training
    if initial is not None:
        weights_at(initial, objective, "initial")
    if path_norm:
        norm_of_paths(objective.model)
    if margins:
        class_margins(objective.on_first_batch(), objective.w)
