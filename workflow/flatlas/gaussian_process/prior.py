"""log P(f): the prior of a function, by expectation propagation (App. D)."""

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from flatlas.gaussian_process.duplicates import Pairs, contradictions
from flatlas.gaussian_process.expectation_propagation import Evidence, expectation_propagation
from flatlas.plan.measurements.functions import Link

IMPOSSIBLE = Evidence(-inf, sweeps=0, residual=0.0, converged=True, jitter=0.0, damping=1.0)


@dataclass(frozen=True)
class LogPrior:
    """log P(f) in nats, in `evidence.log_z`, and how it was found.

    `points` is the number of images used, `merged` the number of further images that equal one of
    them; `contradictions` are pairs of equal images with different labels.
    """

    evidence: Evidence
    points: int
    merged: int
    contradictions: Pairs


def latent_covariance(kernel_matrix: Tensor, link: Link) -> Tensor:
    """The covariance of the variable whose sign a link takes.

    Φ(f) is the probability that f plus standard normal noise is positive: the probit link is the
    hard sign on K + I, for exact probabilities and EP's alike.
    """
    if link == "heaviside":
        return kernel_matrix
    noisy = kernel_matrix.clone()
    noisy.diagonal().add_(1)
    return noisy


def log_prior(
    kernel_matrix: Tensor, functions: Tensor, link: Link, first: Tensor
) -> list[LogPrior]:
    """The prior of each function, a row of labels 0 and 1, under one kernel matrix.

    `first` has the position of the first image that equals each image (`first_of_equals`). With a
    hard sign a duplicate adds no information, but EP counts it twice and is far off, so only one of
    them is kept. With the probit link each has its own noise, so they are different events and all
    are kept.
    """
    positions = torch.arange(len(first), device=first.device)
    if link == "probit":
        first = positions
    kept = (first == positions).nonzero().flatten()
    clashes = [contradictions(first, labels) for labels in functions]
    if len(kept) < len(first):
        kernel_matrix = kernel_matrix[kept][:, kept]
    possible = torch.tensor([not pairs for pairs in clashes], device=functions.device)
    signs = 2 * functions[possible][:, kept] - 1
    found = iter(expectation_propagation(latent_covariance(kernel_matrix, link), signs))
    return [
        LogPrior(IMPOSSIBLE if pairs else next(found), len(kept), len(first) - len(kept), pairs)
        for pairs in clashes
    ]
