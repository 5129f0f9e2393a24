"""`invariance`: how measures change under rescalings that keep a model's function."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import numpy as np
import torch
from pandas import DataFrame
from pydantic import Field, PositiveInt
from torch import nn
from tqdm import tqdm

from flatlas.errors import FlatlasError
from flatlas.library.call import Measures, accepted, take, with_options
from flatlas.library.found import Found
from flatlas.library.pictures import panels, symmetric_scale
from flatlas.library.problem import Problem, Settings, opened
from flatlas.models.objective import Objective
from flatlas.models.rescaling import Rescaling, rescalings
from flatlas.models.tensors import largest, tensors_in
from flatlas.seeds import generator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A quantity moves if it changes by more than round-off plus this many times both errors.
ERRORS = 3
# Ratios that are labelled on the axis.
TICKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 1000)


@dataclass(frozen=True)
class Invariance:
    """Measures of the model, and of each of its `rescaled` copies.

    `factors` has a row for each copy and a column for each multiplied layer; the next layers undo
    the factor. `difference` is the largest difference between outputs, relative to the largest
    output; it is at most `round_off`.
    """

    factors: DataFrame
    difference: float
    found: Found
    rescaled: Sequence[Found]
    round_off: float

    @property
    def table(self) -> DataFrame:
        """A row for each quantity: its value and error, its least and greatest value when rescaled.

        A quantity `moves` if a rescaled value is further away than both errors explain. `converged`
        refers to the model and all its copies.
        """
        rows = self.found.table.drop(columns="seconds")
        values = np.stack([one.table.value for one in self.rescaled])
        errors = np.stack([one.table.error for one in self.rescaled])
        value, error = rows.value.to_numpy(), rows.error.to_numpy()
        explained = ERRORS * (errors + error) + self.round_off * np.abs(value)
        with np.errstate(invalid="ignore"):
            near = np.isfinite(value) & (np.abs(values - value) <= explained)
        # An infinite value stays only if the rescaled values are equal to it, and an undefined one
        # (NaN) only if they are undefined.
        same = (values == value) | (np.isnan(values) & np.isnan(value))
        moves = ~(near | same).all(0)
        converged = rows.converged & np.all([one.table.converged for one in self.rescaled], axis=0)
        return rows.assign(
            converged=converged, least=values.min(0), greatest=values.max(0), moves=moves
        )

    def plot(self) -> "Figure":
        """For each quantity that is not 0, the rescaled values divided by that of the model."""
        table = self.table
        with panels(1, width=4.5) as (figure, (ax,)):
            from flatlas.plotting.look import BLUE, GREY, RED

            figure.set_figheight(1 + 0.22 * len(table))
            values = np.stack([one.table.value for one in self.rescaled])
            of_model = table.value.to_numpy()
            # A value of 0 has no ratio.
            ratios = np.divide(values, of_model, np.full_like(values, np.nan), where=of_model != 0)
            for moves, colour, label in (
                (True, RED, "moves"),
                (False, BLUE, "stays within errors"),
            ):
                (places,) = np.nonzero(table.moves.to_numpy() == moves)
                for number, row in enumerate(ratios[:, places]):
                    ax.plot(row, places, "o", color=colour, label=label if not number else None)
            ax.axvline(1, color=GREY, linestyle=":", zorder=0)
            names = table.measure + ": " + table.quantity
            ax.set_yticks(range(len(table)), names.str.replace("_", " "))
            symmetric_scale(ax, 1.0, TICKS)
            ax.invert_yaxis()
            ax.set_xlabel("rescaled value / value of the model")
            figure.legend(loc="outside upper right", ncols=2)
        return figure


def invariance(
    model: nn.Module,
    data: Any,
    measures: Measures,
    *,
    draws: int = 3,
    factor: float = 4.0,
    test: Any = None,
    progress: bool = False,
    **settings: Unpack[Settings],
) -> Invariance:
    """Measures of the model and of copies with other weights but the same function.

    Layers are found by tracing: linear layers, convolutions and batch norms with ReLU, pooling or
    the like between them. Each of the `draws` multiplies every such layer by a random number from
    1/factor to factor. The next layers undo it, batch norm by its statistics. An error is raised if
    the outputs on the data change. The settings are those of `measure`.
    """
    chosen = with_options(measures)
    draws, factor = accepted(
        "invariance",
        draws=(PositiveInt, draws),
        factor=(Annotated[float, Field(gt=1, allow_inf_nan=False)], factor),
    )
    with opened(model, data, test, settings) as problem:
        original = problem.training
        ways = rescalings(original.model)
        random, reach = generator(problem.seed, "rescalings"), log(factor)
        drawn = np.exp(random.uniform(-reach, reach, (draws, len(ways))))
        copies = [_rescaled(original.model, ways, row) for row in drawn]
        round_off = torch.finfo(original.dtype).eps ** 0.5
        difference = _checked_difference(original, copies, ways, round_off)
        problems = [problem, *(_problem_of(problem, one) for one in copies)]
        found, *rescaled = [
            take(one, chosen, progress=False)
            for one in tqdm(problems, disable=not progress, unit="model")
        ]
    factors = DataFrame(drawn, columns=[way.layer for way in ways])
    return Invariance(factors, difference, found, rescaled, round_off)


def _checked_difference(
    original: Objective, copies: Iterable[nn.Module], ways: Sequence[Rescaling], round_off: float
) -> float:
    """The largest change of the outputs by a copy; an error if it is more than round-off."""
    difference = max(_difference(original, original.of_model(one)) for one in copies)
    if not difference <= round_off:
        raise FlatlasError(
            f"the model's outputs change by {difference:.1g} of the largest if these layers "
            f"are rescaled: {', '.join(way.layer for way in ways)}. So they are not the same "
            "function, and no measure can be compared. Remove hooks that change outputs"
            f"{'' if original.dtype == torch.float64 else ', or try dtype=torch.float64'}."
        )
    return difference


def _rescaled(model: nn.Module, ways: Sequence[Rescaling], factors: np.ndarray) -> nn.Module:
    rescaled = deepcopy(model)
    for way, factor in zip(ways, factors, strict=True):
        way.apply(rescaled, float(factor))
    return rescaled


def _problem_of(problem: Problem, model: nn.Module) -> Problem:
    test = problem.test.of_model(model) if problem.test else None
    return replace(problem, training=problem.training.of_model(model), test=test)


@torch.no_grad()
def _difference(one: Objective, other: Objective) -> float:
    """The largest difference between outputs, relative to the largest output."""
    apart, size = 0.0, 0.0
    for batch in one.batches:
        both = (tensors_in(each.outputs({}, batch)) for each in (one, other))
        for mine, its in zip(*both, strict=True):
            if mine.is_floating_point():
                # A mask may set outputs to −∞. Unlike `max`, np.maximum keeps NaN.
                differs = mine != its
                apart = np.maximum(apart, largest((mine - its)[differs]))
                size = np.maximum(size, largest(mine[mine.isfinite()]))
    return float(apart / size) if apart else 0.0
