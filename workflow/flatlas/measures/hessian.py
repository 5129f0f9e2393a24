"""The Hessian of the mean loss on S in all parameters: its norms and its largest eigenvalues."""

from collections.abc import Mapping
from typing import Any

import torch
from pandas import DataFrame

from flatlas.hessian import hessian_of
from flatlas.hessian.lanczos import ROUND_OFF, Spectrum
from flatlas.hessian.loss import MeanLoss, flattened, value_and_gradient
from flatlas.hessian.norms import norms
from flatlas.measures.clean import on_clean
from flatlas.measures.solution import Solution


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` is one row, `eigenvalues` has a row for each of the `top` largest, by rank.

    `log10_product` is the log of the product of the `positive` ones among them. Trace and Frobenius
    norm are exact for dense nets, the latter up to some thousands of images. Otherwise they are
    means over `probes`, with their standard error. The Hessian covers S alone, without images whose
    label was changed. Its products are in float64, or in float32 if a `precision` is given. A small
    residual says that a value is an eigenvalue, not that its rank is right: of repeated ones, such
    as zero, the search may find only some, so lower ranks may hold smaller values.
    """
    solution = on_clean(solution)
    net, inputs, labels = solution.net, solution.inputs, solution.labels
    precision = torch.float32 if options.get("precision") else torch.float64
    hessian = hessian_of(net, solution.parameters, inputs, labels, precision)
    random = solution.generator("hessian")
    taken = norms(hessian, options["top"], options["probes"], random, options["tolerance"])
    found = taken.spectrum
    (w,) = flattened(net, solution.parameters)
    loss, gradient = value_and_gradient(MeanLoss(net, inputs, labels), w)
    summary = {
        "spectral_norm": found.norm,
        "spectral_norm_residual": found.norm_residual,
        **_product(found),
        "trace": taken.trace.value,
        "trace_error": taken.trace.standard_error,
        "frobenius": taken.frobenius.value,
        "frobenius_error": taken.frobenius.standard_error,
        "loss": loss.item(),
        "gradient_norm": gradient.norm().item(),
        "residual": found.top_residuals.max().item(),
        "iterations": found.iterations,
        "converged": found.converged,
    }
    eigenvalues = {
        "rank": range(1, len(found.top) + 1),
        "eigenvalue": found.top.cpu().numpy(),
        "residual": found.top_residuals.cpu().numpy(),
    }
    return {"summary": DataFrame([summary]), "eigenvalues": DataFrame(eigenvalues)}


def _product(found: Spectrum) -> dict[str, float]:
    """How many eigenvalues are positive beyond round-off, and log10 of their product."""
    positive = found.top[found.top > ROUND_OFF * found.norm]
    return {"log10_product": positive.log10().sum().item(), "positive": len(positive)}
