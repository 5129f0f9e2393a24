"""The accuracy of expectation propagation: the prior of a function on few images, in three ways.

The paper does not check it.
"""

from collections.abc import Mapping
from math import log, nan
from typing import Any

from pandas import DataFrame
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.gaussian_process.duplicates import first_of_equals
from flatlas.gaussian_process.expectation_propagation import expectation_propagation
from flatlas.gaussian_process.kernels import ArcCosineKernel, arc_cosine_kernel
from flatlas.gaussian_process.orthant import orthant_probability
from flatlas.gaussian_process.prior import latent_covariance
from flatlas.gaussian_process.variational import Bound, variational_bound
from flatlas.measures.gp_prior import function, restriction
from flatlas.measures.solution import Solution
from flatlas.plan.measurements.functions import Link
from flatlas.seeds import generator

SAMPLES = 100_000
# The hard sign has no variational bound.
NONE = Bound(nan, iterations=0, residual=nan, converged=False)


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` has a row for each size: log10 P of f on that many images of S and E.

    The images are drawn at random, the same for all nets of a realization; on S alone, all nets
    with zero error would agree. A larger size includes the smaller ones. Duplicate images are
    skipped. The estimates are those of expectation propagation, of minimax tilting with its
    standard error (of log10 P), and the variational lower bound, which the hard sign does not have.
    """
    seen = restriction(solution)
    first, sizes = first_of_equals(seen.images), options["sizes"]
    different = first.unique().cpu().numpy()
    if max(sizes) > len(different):
        raise FlatlasError(
            f"sizes asks for {max(sizes)} different images, but S and E have {len(different)}: "
            "give sizes up to that."
        )
    chosen = generator(solution.seed, "points of an estimate").permutation(different)
    kernel, images = arc_cosine_kernel(solution.net), seen.images[chosen].flatten(1)
    labels = function(solution, seen)[chosen]
    rows = [
        _row(kernel, images[:size], labels[:size], options["link"], solution.seed) for size in sizes
    ]
    return {"summary": DataFrame(rows)}


def _row(
    kernel: ArcCosineKernel, images: Tensor, labels: Tensor, link: Link, seed: int
) -> dict[str, float]:
    covariance, signs = latent_covariance(kernel(images).to_dense(), link), 2 * labels - 1
    [evidence] = expectation_propagation(covariance, signs.unsqueeze(0))
    tilting = orthant_probability(
        covariance.cpu().numpy(),
        signs.cpu().numpy(),
        SAMPLES,
        generator(seed, f"orthant of {len(images)}"),
    )
    bound = variational_bound(kernel, images, labels) if link == "probit" else NONE
    return {
        "size": len(images),
        "log10_p_ep": evidence.log_z / log(10),
        "sweeps_ep": evidence.sweeps,
        "residual_ep": evidence.residual,
        "converged_ep": evidence.converged,
        "log10_p_tilting": tilting.log_p / log(10),
        "standard_error": tilting.standard_error / log(10),
        "iterations_tilting": tilting.iterations,
        "residual_tilting": tilting.residual,
        "converged_tilting": tilting.converged,
        "log10_p_variational": bound.log_p / log(10),
        "iterations_variational": bound.iterations,
        "residual_variational": bound.residual,
        "converged_variational": bound.converged,
    }
