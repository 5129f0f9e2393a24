"""The true regret in the ε-ball, f₂(argmin f₁) − min f₂, and the formula for small ε."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
from pandas import DataFrame
from torch import Tensor

from flatlas.flatness.ball import least_in_ball
from flatlas.flatness.regret import Regret
from flatlas.hessian.loss import MeanLoss, flattened, value_and_gradient, without_dark_pixels
from flatlas.measures.clean import on_clean
from flatlas.measures.minibatches import minibatches
from flatlas.measures.solution import Solution
from flatlas.measures.tables import table_of


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`pairs` has a row for each ε among the `radii` and each pair of minibatches.

    `true_regret` is R and `formula` is ε ‖g₂‖ (1 − cos(g₁, g₂)). `summary` has their means over
    pairs for each ε, and the `ratio` of these means. Residual and iterations are those of the worse
    search.
    """
    solution = on_clean(solution)
    shape = options["pairs"], 2, options["batch"]
    drawn = minibatches(solution, "regret", shape).flatten(0, 1)
    whole = MeanLoss(solution.net, solution.inputs, solution.labels)
    # Weights of pixels that are dark in all images have no slope, so no search moves them.
    whole, w = without_dark_pixels(whole, flattened(solution.net, solution.parameters))
    loss, w = whole.on_minibatches(drawn), w.expand(len(drawn), -1)
    gradients = value_and_gradient(loss, w)[1].unflatten(0, shape[:2])
    formula = Regret.of(gradients, gradients).regret
    pairs = pd.concat(
        [_at(loss, w, epsilon, formula) for epsilon in options["radii"]], ignore_index=True
    )
    return {"summary": summary(pairs), "pairs": pairs}


def _at(loss: MeanLoss, w: Tensor, epsilon: float, formula: Tensor) -> DataFrame:
    """All pairs at one ε."""
    found = least_in_ball(partial(value_and_gradient, loss), w, epsilon)
    # The minimum for the other minibatch of the pair.
    other = found.place.unflatten(0, (-1, 2)).flip(1).flatten(0, 1)
    true = (loss(w + other) - found.value).unflatten(0, (-1, 2))[:, 1]
    columns = {
        "true_regret": true,
        "formula": epsilon * formula,
        "ratio": true / (epsilon * formula),
        "residual": _of_both(found.residual).amax(1),
        "iterations": _of_both(found.iterations).amax(1),
        "converged": _of_both(found.converged).all(1),
    }
    return table_of(columns, numbered="pair").assign(epsilon=epsilon)


def _of_both(members: Tensor) -> Tensor:
    return members.unflatten(0, (-1, 2))


def summary(pairs: DataFrame) -> DataFrame:
    """A row for each ε."""
    by_radius = pairs.groupby("epsilon")
    means = by_radius[["true_regret", "formula"]].mean()
    return means.assign(
        ratio=means["true_regret"] / means["formula"],
        residual=by_radius["residual"].max(),
        iterations=by_radius["iterations"].max(),
        converged=by_radius["converged"].all(),
    ).reset_index()
