"""Expectation propagation for log Z = log P(all s_i g_i > 0), g ~ N(0, K) (App. D).

Rasmussen and Williams (2006), ch. 3.6, with all sites updated at once. Near the fixed point the
updates are extrapolated (Anderson's method), which saves a quarter to half of the sweeps. A sign
does not change when its variable is scaled, so the computation uses correlations: the result does
not depend on the scale of K.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, pi

import torch
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.gaussian_process.refusals import refuse_patterns

# The fixed point is found when the mean-square change of the site parameters is below this. The
# error of log Z is then about this much for each point.
TOLERANCE = 1e-9
SWEEPS = 200
# The share of each update that is taken: the first and the smallest value.
DAMPING = 0.9
LEAST_DAMPING = 0.01
# Below the residual NEAR, each update is extrapolated from the last UPDATES. After an extrapolation
# that diverged this happens only NEARER: the same one would diverge again, without end.
NEAR = 1.0
NEARER = 0.1
UPDATES = 3
# Columns of a matrix that are processed at a time.
STRIP = 256
# If τ_i Σ_ii is below this, the short formula for Σ_ii loses too many digits.
SHORT = 1e-6
# Each is added to the unit diagonal in turn, until the factorization succeeds.
JITTERS = (0.0, 1e-10, 1e-8, 1e-6, 1e-4)


@dataclass(frozen=True)
class Evidence:
    """log Z of one pattern of signs, and its quality.

    `residual` is the mean-square change of the site parameters in a whole update, in units of the
    marginals: precisions relative to theirs, shifts relative to its root. `damping` is the final
    share of an update that was taken, `jitter` the number added to the correlations' diagonal.
    """

    log_z: float
    sweeps: int
    residual: float
    converged: bool
    jitter: float
    damping: float


@dataclass(frozen=True)
class Gaussians:
    """Independent normal variables."""

    mean: Tensor
    variance: Tensor


def expectation_propagation(kernel_matrix: Tensor, signs: Tensor) -> list[Evidence]:
    """The evidence of each row of `signs` (functions, n), of -1 and 1; the rows share K.

    Points must be distinct: equal ones count more than once, so log Z is too small.
    `log_prior` merges them.

    Functions are computed one at a time: with many points a batch is no faster and takes several
    times the memory. A repeated function, as at neighbouring moments of a training, is computed
    once.
    """
    refuse_patterns(kernel_matrix, signs, Tensor, dimensions=2)
    correlation = _correlation(kernel_matrix)
    found: dict[bytes, Evidence] = {}
    evidences = []
    for row in signs:
        pattern = row.cpu().numpy().tobytes()
        if pattern not in found:
            found[pattern] = _evidence(correlation, row.to(correlation))
        evidences.append(found[pattern])
    return evidences


def _correlation(kernel_matrix: Tensor) -> Tensor:
    kernel_matrix = kernel_matrix.double()
    deviation = kernel_matrix.diagonal().sqrt()
    return (kernel_matrix / deviation).div_(deviation.unsqueeze(1))


def _evidence(correlation: Tensor, signs: Tensor) -> Evidence:
    for jitter in JITTERS:
        correlation.fill_diagonal_(1 + jitter)
        found = _propagated(correlation, signs, jitter)
        if found:
            return found
    raise FlatlasError(
        f"expectation propagation fails even with {JITTERS[-1]} added to the correlations' "
        "diagonal, so the kernel matrix is not a covariance. Give a positive semidefinite one."
    )


def _propagated(correlation: Tensor, signs: Tensor, jitter: float) -> Evidence | None:
    """The sites at the fixed point; None if round-off breaks the sweeps."""
    damping, near, last = DAMPING, NEAR, inf
    prior = Gaussians(torch.zeros_like(signs), correlation.diagonal())
    sites = damping * _matched(prior)
    tried: list[tuple[Tensor, Tensor]] = []
    sweeps = 0
    while True:
        sweeps += 1
        posterior = _posterior(correlation, signs, sites)
        if posterior is None:
            return None
        marginals, log_determinant = posterior
        cavities = _cavities(marginals, sites)
        update = _matched(cavities) - sites
        units = torch.stack([marginals.variance, marginals.variance.sqrt()])
        residual = (update * units).square().sum(0).mean().item()
        if residual < TOLERANCE or sweeps == SWEEPS:
            log_z = _log_z(marginals, cavities, sites, log_determinant)
            return Evidence(log_z, sweeps, residual, residual < TOLERANCE, jitter, damping)
        if residual >= last:
            if len(tried) > 1:
                near *= NEARER
            else:
                damping = max(damping / 2, LEAST_DAMPING)
            tried.clear()
        last = residual
        if residual < near:
            tried = [*tried, (sites, update)][-UPDATES:]
        sites = _next(sites, update, tried, units, damping)


def _next(
    sites: Tensor,
    update: Tensor,
    tried: Sequence[tuple[Tensor, Tensor]],
    units: Tensor,
    damping: float,
) -> Tensor:
    """The sites after a damped update, extrapolated if several sites and updates are `tried`.

    Anderson (1965): the update starts from the combination of `tried` sites with the smallest
    combined update, in `units` of the marginals.
    """
    damped = sites + damping * update
    if len(tried) < 2:
        return damped
    changes, steps = [], []
    for (before, its_update), (after, the_next) in pairwise(tried):
        changes.append((the_next - its_update) * units)
        steps.append(after - before + damping * (the_next - its_update))
    weights = torch.linalg.pinv(torch.stack(changes).flatten(1).T) @ (update * units).flatten()
    extrapolated = damped - torch.einsum("t,tpi->pi", weights, torch.stack(steps))
    return torch.where(extrapolated[0] > 0, extrapolated, damped)


def _posterior(
    correlation: Tensor, signs: Tensor, sites: Tensor
) -> tuple[Gaussians, Tensor] | None:
    """Mean and variance of each s_i g_i under the sites, and log |B| (Eqs. 3.53, 3.67, 3.68).

    With C = s K sᵀ and the sites' precisions S: B = I + S^½ C S^½ = L Lᵀ and S^½ Σ S^½ = I − B⁻¹.
    The diagonal of B⁻¹ takes a third of the work of Σ = C − Vᵀ V, V = L⁻¹ S^½ C, which only sites
    with almost no precision need.
    """
    precision, shift = sites
    root = precision.sqrt() * signs
    matrix = (correlation * root).mul_(root.unsqueeze(1))
    matrix.diagonal().add_(1)
    factor, failed = torch.linalg.cholesky_ex(matrix)
    if failed:
        return None
    signed = signs * shift
    solved = torch.cholesky_solve((root * (correlation @ signed)).unsqueeze(1), factor)
    mean = signs * (correlation @ (signed - root * solved.squeeze(1)))
    share = 1 - _inverse_diagonal(factor)
    variance = share / precision
    weak = (share < SHORT).nonzero().flatten()
    columns = correlation[:, weak] * root.unsqueeze(1)
    explained = torch.linalg.solve_triangular(factor, columns, upper=False)
    variance[weak] = correlation.diagonal()[weak] - explained.square().sum(0)
    if not (variance > 0).all() or not (variance * precision < 1).all():
        return None
    return Gaussians(mean, variance), 2 * factor.diagonal().log().sum()


def _inverse_diagonal(factor: Tensor) -> Tensor:
    """The diagonal of (L Lᵀ)⁻¹: the squared norms of the columns of L⁻¹, a strip at a time."""
    squares = []
    for begin in range(0, len(factor), STRIP):
        below = factor[begin:, begin:]
        # L⁻¹ is lower triangular, so a strip needs only the rows of L from its first one. LAPACK
        # takes contiguous columns without a copy.
        columns = factor.new_zeros(min(STRIP, len(below)), len(below)).T
        columns.diagonal().fill_(1)
        inverse = torch.linalg.solve_triangular(below, columns, upper=False)
        squares.append(inverse.square_().sum(0))
    return torch.cat(squares)


def _cavities(marginals: Gaussians, sites: Tensor) -> Gaussians:
    """The cavity: the distribution of each variable given the other sites (Eq. 3.56)."""
    precision, shift = sites
    left = 1 - precision * marginals.variance
    return Gaussians(
        (marginals.mean - marginals.variance * shift) / left, marginals.variance / left
    )


def _matched(cavities: Gaussians) -> Tensor:
    """Sites (precision; precision times mean) that give a cavity the moments of its positive half.

    Eq. 3.58 for the hard sign, without cancellation where a site has little effect.
    """
    z = cavities.mean / cavities.variance.sqrt()
    hazard = _hazard(z)
    # The share of the cavity's variance that is removed.
    cut = hazard * (z + hazard)
    precision = cut / (cavities.variance * (1 - cut))
    shift = (cavities.mean * cut + cavities.variance.sqrt() * hazard) / (
        cavities.variance * (1 - cut)
    )
    return torch.stack([precision, shift])


def _hazard(z: Tensor) -> Tensor:
    """φ(z)/Φ(z), without underflow."""
    return (2 / pi) ** 0.5 / torch.special.erfcx(-z / 2**0.5)


def _log_z(
    marginals: Gaussians, cavities: Gaussians, sites: Tensor, log_determinant: Tensor
) -> float:
    """log Z by Eq. 3.65: the normalization of each site, and the remaining Gaussian.

    This form is stationary at the fixed point of the sites, so its error is of the order of the
    residual, not of its root.
    """
    normalizers = torch.special.log_ndtr(cavities.mean / cavities.variance.sqrt())
    removed = _log_partition(cavities) - _log_partition(marginals)
    whole = (sites[1] @ marginals.mean - log_determinant) / 2
    return (normalizers.sum() + removed.sum() + whole).item()


def _log_partition(gaussians: Gaussians) -> Tensor:
    return (gaussians.variance.log() + gaussians.mean.square() / gaussians.variance) / 2
