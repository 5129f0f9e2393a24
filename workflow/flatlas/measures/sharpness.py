"""The sharpness of a solution within a box (Keskar et al. 2016), by one of three ascents."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.flatness.box import (
    SEARCHES,
    Ascent,
    Box,
    BoxSharpness,
    OfMembers,
    by_minibatches,
    sharpness_of,
)
from flatlas.hessian.loss import (
    MeanLoss,
    flattened,
    value_and_gradient,
    without_dark_pixels,
)
from flatlas.measures.clean import on_clean
from flatlas.measures.dense_ascent import DenseAscent
from flatlas.measures.solution import Solution
from flatlas.seeds import stream

# Members that ascend together: for a small net their data fits into a core's cache.
AT_ONCE = 8


def measure_stack(
    solutions: Sequence[Solution], options: Mapping[str, Any]
) -> list[dict[str, DataFrame]]:
    """`summary` is one row; `ascent` has the loss on S at w + Δw after each epoch of the ascent.

    The solutions belong to one realization and share S. An iteration of L-BFGS-B, which sees all
    images, is also called an epoch.
    """
    some = on_clean(solutions[0])
    w = torch.cat([flattened(one.net, one.parameters) for one in solutions])
    return tables_of(MeanLoss(some.net, some.inputs, some.labels), w, options, some.seed)


def tables_of(
    loss: MeanLoss, w: Tensor, options: Mapping[str, Any], seed: int
) -> list[dict[str, DataFrame]]:
    """The tables for any loss and weights (members, size); each member may have its own images."""
    weights = w.shape[-1]
    loss, w = without_dark_pixels(loss, w)
    tables: list[dict[str, DataFrame]] = []
    for members in torch.arange(len(w), device=w.device).split(AT_ONCE):
        some = loss.of_members(members)
        box = Box.around(w[members], options["box"], _by_member(some, len(members)), weights)
        if options["by"] == "sgd":
            curves = sgd(box, some, options, seed)
        else:
            curves = SEARCHES[options["by"]](box, options["epochs"])
        tables += map(_tables, curves, sharpness_of(box, curves))
    return tables


def _by_member(loss: MeanLoss, count: int) -> OfMembers:
    """L and ∇L of some of the `count` members of a stack."""

    def of(w: Tensor, members: Tensor) -> tuple[Tensor, Tensor]:
        there = loss if len(members) == count else loss.of_members(members)
        return value_and_gradient(there, w)

    return of


def sgd(box: Box, loss: MeanLoss, options: Mapping[str, Any], seed: int) -> list[list[float]]:
    """L of each member after each epoch of minibatch ascent.

    All members draw the same minibatches, whichever members are in the stack.
    """
    images = loss.labels.shape[1]
    random = torch.Generator().manual_seed(stream(seed, "sharpness"))

    def minibatches() -> Sequence[Tensor]:
        order = torch.randperm(images, generator=random).to(box.w.device)
        return order.split(options["batch"])

    climb = (DenseAscent if loss.net.only_dense else ascent)(loss, box.w, box.side)
    return by_minibatches(box, climb, loss, minibatches, options["lr"], options["epochs"])


def ascent(loss: MeanLoss, w: Tensor, side: Tensor) -> Ascent:
    """Minibatch ascent of the loss of any net; a minibatch is the numbers of its images.

    Slopes are in float32, at rounded weights: they only decide where the ascent goes. A user's
    module may need float64.
    """
    precision = w.dtype if loss.net.own else torch.float32
    rough = replace(loss, inputs=loss.inputs.to(precision))

    def slope(drawn: Tensor, at: Tensor) -> Tensor:
        return value_and_gradient(rough.of(drawn), at.to(precision))[1]

    return Ascent(slope, w, side)


def _tables(curve: list[float], found: BoxSharpness) -> dict[str, DataFrame]:
    """Both tables of one member."""
    ascent = {"epoch_of_ascent": np.arange(len(curve)), "value": np.array(curve)}
    return {"summary": DataFrame([vars(found)]), "ascent": DataFrame(ascent)}
