"""How the measures of the atlas change when a net's weights change but its function does not.

After Dinh et al. (2017): α-scalings of a layer, and of each of its neurons by a separate factor.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import log
from typing import Any

import pandas as pd
import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.hessian.lanczos import TOLERANCE
from flatlas.measures import (
    contrastive_flatness,
    duality,
    gp_prior,
    hessian,
    norms,
    regret,
    sharpness,
)
from flatlas.measures.solution import Solution
from flatlas.nets.rescaling import rescaled
from flatlas.seeds import stream

# Fixed options; the ascent is that of contrastive flatness.
HESSIAN = {"probes": 100, "tolerance": TOLERANCE}
DUALITY = {"directions": "hessian", "sharp": "steepest"}
UNSCALED = {"layer": "", "factors": (1.0,)}
DAMPED = {"dampings": (100.0,)}


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """The tables of each measure, with at least one row for each `scaling`.

    A `scaling` is `none`, `layer` or `neurons`.
    """
    scaled = dict(scalings(solution, options))
    stack = list(scaled.values())
    exact = {"link": options["link"], "kernel": "arc_cosine"}
    priors = gp_prior.measure_stack(stack, exact)
    sharps = sharpness.measure_stack(stack, {**contrastive_flatness.CORNERS, "box": options["box"]})
    found: dict[str, list[DataFrame]] = {}
    for (scaling, one), prior, sharp in zip(scaled.items(), priors, sharps, strict=True):
        rows = {"prior": prior["summary"], "sharpness": sharp["summary"], **_alone(one, options)}
        for name, table in rows.items():
            found.setdefault(name, []).append(table.assign(scaling=scaling))
    return {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}


def scalings(solution: Solution, options: Mapping[str, Any]) -> Iterator[tuple[str, Solution]]:
    """The solution unscaled, with the `layer` times α, and with each neuron times its own α."""
    yield "none", solution
    factors = {"layer": options["factor"], "neurons": neuron_factors(solution, options)}
    for scaling, factor in factors.items():
        parameters = rescaled(solution.net, solution.parameters, options["layer"], factor)
        yield scaling, replace(solution, parameters=parameters)


def neuron_factors(solution: Solution, options: Mapping[str, Any]) -> Tensor:
    """α_j for each neuron of the layer, log-uniform between 1/α and α."""
    random = torch.Generator().manual_seed(stream(solution.seed, "neuron factors"))
    count = solution.net.dense(options["layer"]).outputs
    drawn = 2 * torch.rand(count, generator=random, dtype=torch.float64) - 1
    return (abs(log(options["factor"])) * drawn).exp().to(solution.inputs.device)


def _alone(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """The measures that take one solution at a time."""
    box, batch = {"box": options["box"]}, {"batch": options["batch"]}
    pairs, parts = {"pairs": options["pairs"]}, {"minibatches": options["minibatches"]}
    layer = {"layer": options["dual_layer"]}
    local = regret.measure(solution, {**UNSCALED, **DAMPED, **batch, **pairs})
    contrast = contrastive_flatness.measure(solution, {**UNSCALED, **batch, **parts, **box})
    return {
        "norms": norms.measure(solution, {})["summary"],
        "hessian": hessian.measure(solution, {**HESSIAN, "top": options["top"]})["summary"],
        "duality": duality.measure(solution, {**DUALITY, **layer})["summary"],
        "regret": local["summary"],
        "kl_ball": local["kl_ball"],
        "contrast": contrast["summary"],
    }
