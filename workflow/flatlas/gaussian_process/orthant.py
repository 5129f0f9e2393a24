"""log P(all s_i g_i > 0), g ~ N(0, K), exact up to sampling: minimax exponential tilting.

Botev, The normal law under linear restrictions, J. R. Statist. Soc. B 79 (2017), p. 125; the
equations are his. Suitable for some hundred points.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import root
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from flatlas.errors import FlatlasError
from flatlas.gaussian_process.refusals import refuse_patterns

# Samples drawn at a time. For up to 600 variables they fit into a cache.
BLOCK = 1000
# The saddle point of ψ is found when no derivative is larger than this.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Orthant:
    """An estimate of log P whose exponential is unbiased, and its standard error (of the log).

    `bound` is ψ at the saddle point, above log P; `residual` the largest derivative there. The
    estimate is unbiased wherever ψ is evaluated; a poor point only increases its error.
    """

    log_p: float
    standard_error: float
    bound: float
    residual: float
    iterations: int
    converged: bool


def orthant_probability(
    covariance: np.ndarray, signs: np.ndarray, samples: int, generator: np.random.Generator
) -> Orthant:
    """The probability of a pattern of signs, -1 and 1, estimated from this many samples."""
    refuse_patterns(covariance, signs, np.ndarray, dimensions=1)
    if samples < 2:
        raise FlatlasError(f"samples is {samples}. Allowed: at least 2, for a standard error.")
    rows, order_scale = _reordered(covariance * np.outer(signs, signs))
    lower = rows / order_scale[:, None] - np.eye(len(rows))
    x, mu, iterations, residual = _saddle_point(lower)
    blocks = np.diff([*range(0, samples, BLOCK), samples])
    weights = np.concatenate([_log_weights(lower, mu, int(block), generator) for block in blocks])
    mean = logsumexp(weights) - np.log(samples)
    spread = np.exp(weights - mean).std(ddof=1)
    return Orthant(
        log_p=float(mean),
        standard_error=float(spread / np.sqrt(samples)),
        bound=float(_psi(lower, x, mu)),
        residual=residual,
        iterations=iterations,
        converged=residual < TOLERANCE,
    )


def _reordered(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Cholesky factor of the reordered variables, and its diagonal.

    Next comes the variable that is least likely to be positive, given that those before it are at
    their means (Botev, Sec. 2.3; Gibson, Glasbey and Elston, 1994).
    """
    n = len(covariance)
    left, factor, means = covariance.copy(), np.zeros((n, n)), np.zeros(n)
    for k in range(n):
        variance = left.diagonal()[k:] - (factor[k:, :k] ** 2).sum(1)
        if variance.min() <= 0:
            raise FlatlasError(
                "the covariance is not positive definite, so tilting cannot compute the "
                "probability of an orthant: merge images that are equal, or use the link 'probit'."
            )
        bounds = factor[k:, :k] @ means[:k] / np.sqrt(variance)
        pick = k + int(np.argmin(log_ndtr(bounds)))
        left[[k, pick]] = left[[pick, k]]
        left[:, [k, pick]] = left[:, [pick, k]]
        factor[[k, pick]] = factor[[pick, k]]
        factor[k, k] = np.sqrt(variance[pick - k])
        factor[k + 1 :, k] = (left[k + 1 :, k] - factor[k + 1 :, :k] @ factor[k, :k]) / factor[k, k]
        means[k] = _hazard(bounds[pick - k])
    return factor, factor.diagonal()


def _saddle_point(lower: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, float]:
    """The saddle point of ψ: its minimum in µ, where it is convex, and maximum in x.

    The last variable needs no tilting: its x and µ are 0.
    """
    n = len(lower)
    below = lower[:, :-1]

    def gradient(point: np.ndarray) -> np.ndarray:
        x, mu = point.reshape(2, n - 1)
        hazard = _hazard(np.append(mu, 0) + below @ x)
        return np.concatenate([hazard @ below - mu, mu - x + hazard[:-1]])

    def jacobian(point: np.ndarray) -> np.ndarray:
        x, mu = point.reshape(2, n - 1)
        t = np.append(mu, 0) + below @ x
        slope = -_hazard(t) * (t + _hazard(t))
        across = below[:-1].T * slope[:-1] - np.eye(n - 1)
        return np.block(
            [[below.T * slope @ below, across], [across.T, np.eye(n - 1) + np.diag(slope[:-1])]]
        )

    found = root(gradient, np.zeros(2 * (n - 1)), jac=jacobian, method="hybr")
    x, mu = np.append(found.x.reshape(2, n - 1), np.zeros((2, 1)), axis=1)
    return x, mu, int(found.nfev), float(np.abs(found.fun).max(initial=0))


def _psi(lower: np.ndarray, x: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """ψ(x; µ), the log weight of a sample (Eq. 9)."""
    weight: np.ndarray = (mu**2 / 2 - mu * x + log_ndtr(mu + lower @ x)).sum(0)
    return weight


def _log_weights(
    lower: np.ndarray, mu: np.ndarray, samples: int, generator: np.random.Generator
) -> np.ndarray:
    """log weights of samples, drawn one variable after the other with the tilting µ."""
    x = np.zeros((len(lower), samples))
    for k, row in enumerate(lower):
        t = mu[k] + row[:k] @ x[:k]
        # Draw above -t by the inverse distribution function, in logs: that works in any tail.
        x[k] = mu[k] - ndtri_exp(log_ndtr(t) - generator.exponential(size=samples))
    return _psi(lower, x, mu[:, None])


def _hazard(t: np.ndarray) -> np.ndarray:
    """φ(t)/Φ(t), without underflow."""
    ratio: np.ndarray = np.exp(-(t**2) / 2 - log_ndtr(t)) / np.sqrt(2 * np.pi)
    return ratio
