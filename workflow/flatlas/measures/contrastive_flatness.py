"""Contrastive flatness: the mean flatness of minibatch losses over the flatness of their mean.

It is 1 where all minibatches are alike, and large where the mean loss is flat only because it
averages sharp minibatch losses with different minima. The trace of the Hessian is linear in the
loss: its ratio is 1 in any net, except for the random choice of minibatches. The spectral norm and
the sharpness are convex: over all minibatches their ratio is at least 1.
"""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

import pandas as pd
from pandas import DataFrame
from torch import Tensor

from flatlas.hessian import hessian_of
from flatlas.hessian.lanczos import TOLERANCE
from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.hessian.norms import norm_and_trace
from flatlas.measures import sharpness
from flatlas.measures.clean import on_clean
from flatlas.measures.minibatches import minibatches
from flatlas.measures.solution import Solution
from flatlas.measures.under_scaling import under_scaling

# Eigenvalues in the search for the largest: more of them allow more steps.
TOP = 5
# For the trace of nets that have no closed form.
PROBES = 100
# The ascent goes from corner to corner of the box, up to this many times.
CORNERS = {"by": "corners", "epochs": 100}


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` has a row for each α-scaling and each `flatness`: trace, spectral norm, sharpness.

    `contrast` is the mean over minibatches divided by the value `of_mean`, with its standard error.
    All values are larger where the loss is sharper. Residual and iterations are those of the worst
    search. A trace needs no search, so it counts as converged; without a closed form its residual
    is the relative standard error over random vectors.
    """
    solution = on_clean(solution)
    drawn = minibatches(
        solution, "contrastive flatness", (options["minibatches"], options["batch"])
    )
    rows = [
        {"factor": factor, **row}
        for factor, scaled in under_scaling(solution, options)
        for row in _contrasts(scaled, drawn, options["box"])
    ]
    return {"summary": DataFrame(rows)}


def _contrasts(solution: Solution, drawn: Tensor, box: float) -> Iterator[dict[str, Any]]:
    options = {**CORNERS, "box": box}
    (sharp,) = sharpness.measure_stack([solution], options)
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    w = flattened(solution.net, solution.parameters).expand(len(drawn), -1)
    sharps = sharpness.tables_of(loss.on_minibatches(drawn), w, options, solution.seed)
    whole = _flatness(solution, sharp["summary"])
    parts = pd.concat(
        [
            _flatness(solution.on(images), tables["summary"])
            for images, tables in zip(drawn, sharps, strict=True)
        ]
    )
    for name, of_mean in whole.iterrows():
        of_minibatches = parts.loc[[name]]
        mean = of_minibatches["value"].mean()
        yield {
            "flatness": name,
            "of_minibatches": mean,
            "of_mean": of_mean["value"],
            "contrast": mean / of_mean["value"],
            "contrast_error": of_minibatches["value"].sem() / of_mean["value"],
            "residual": max(of_minibatches["residual"].max(), of_mean["residual"]),
            "iterations": max(of_minibatches["iterations"].max(), of_mean["iterations"]),
            "converged": bool(of_minibatches["converged"].all() and of_mean["converged"]),
        }


def _flatness(solution: Solution, sharp: DataFrame) -> DataFrame:
    """A row for each flatness: its value and how well the search converged."""
    hessian = hessian_of(solution.net, solution.parameters, solution.inputs, solution.labels)
    found, trace = norm_and_trace(hessian, TOP, PROBES, solution.generator("hessian"))
    (ascent,) = sharp.to_dict("records")
    of_trace = _share(trace.standard_error, trace.value)
    of_norm = _share(found.norm_residual, found.norm)
    rows = {
        "trace": (trace.value, of_trace, 1, isfinite(of_trace)),
        "spectral_norm": (found.norm, of_norm, found.iterations, of_norm <= TOLERANCE),
        "sharpness": tuple(
            ascent[name] for name in ("sharpness", "residual", "iterations", "converged")
        ),
    }
    columns = ["value", "residual", "iterations", "converged"]
    return DataFrame.from_dict(rows, orient="index", columns=columns)


def _share(off: float, value: float) -> float:
    """An error relative to its value."""
    return off / abs(value) if value else 0.0
