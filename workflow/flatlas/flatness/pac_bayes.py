"""How large Gaussian perturbations of the weights may be for a given rise of the mean loss.

The flatter a minimum, the larger they may be, and the closer is the posterior of a PAC-Bayes bound
to the prior (Neyshabur et al. 2017; Jiang et al. 2020).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import exp, floor, inf, isfinite, log, log2, pi, sqrt

import torch
from scipy.optimize import brentq
from scipy.special import rel_entr
from torch import Tensor

from flatlas.flatness.loss import Slope
from flatlas.hessian.sampled import Sampled, mean

# The search for σ begins at BEGIN and multiplies by FACTOR, at most FARTHEST times.
BEGIN, FACTOR, FARTHEST = 1e-2, 2.0, 60
# Rises are clipped to within this factor of the wanted one, because a loss may overflow or fall.
FAR = 1e6
# A bound's standard deviations are powers of 2 whose exponents are multiples of 1/FINENESS.
FINENESS = 4
# A bound above 1 − EPSILON counts as 1.
EPSILON = 1e-15


class Perturbations:
    """The same `pairs` of Gaussian vectors u and −u times `scale`, for each standard deviation."""

    def __init__(self, scale: Tensor, pairs: int, generator: torch.Generator) -> None:
        """Store the generator's state, not the vectors, which are drawn again for each σ."""
        self._scale, self._pairs = scale, pairs
        self._generator, self._state = generator, generator.get_state()

    def of(self, sigma: float) -> Iterator[Tensor]:
        """One vector of each pair."""
        self._generator.set_state(self._state)
        for _ in range(self._pairs):
            draw = torch.empty_like(self._scale).normal_(generator=self._generator)
            yield sigma * self._scale * draw


@dataclass(frozen=True)
class Tolerated:
    """The standard deviation `sigma` at which the mean loss has risen as wanted.

    `residual` is how far the rise there is from the wanted one, relative to it; `iterations` counts
    the values of σ that were tried.
    """

    sigma: Sampled
    rise: float
    residual: float
    iterations: int
    converged: bool


def tolerated(
    loss: Slope, perturbations: Perturbations, rise: float, tolerance: float
) -> Tolerated:
    """The first σ that the search finds with E L(w + σu) − L(w) = `rise`.

    The rise may be `tolerance` off, relative to the wanted one. All σ have the same perturbations.
    In a quadratic minimum the rise is σ² tr H / 2. If no σ has this rise, the last σ tried is
    returned, with an infinite error.
    """
    origin = loss.value(loss.w).item()

    @cache
    def excess(log_sigma: float) -> float:
        """The log of the rise over the wanted one: nearly linear, since the rise is about σ²."""
        risen = [
            (loss.value(loss.w + shift) + loss.value(loss.w - shift)).item() / 2 - origin
            for shift in perturbations.of(exp(log_sigma))
        ]
        found = sum(risen) / len(risen) / rise
        return log(min(max(found, 1 / FAR), FAR)) if isfinite(found) else log(FAR)

    here, there = _bracket(excess)
    if (excess(here) < 0) == (excess(there) < 0):
        tried = excess.cache_info().misses
        return Tolerated(Sampled(exp(there), inf), rise, inf, tried, converged=False)
    sigma = exp(brentq(excess, here, there, xtol=tolerance / 4))
    rises, slope = _near(loss, perturbations, sigma, origin)
    residual = abs(rises.value / rise - 1)
    return Tolerated(
        sigma=Sampled(sigma, rises.standard_error / slope if slope > 0 else inf),
        rise=rise,
        residual=residual,
        iterations=excess.cache_info().misses,
        converged=residual <= tolerance,
    )


def _bracket(excess: Callable[[float], float]) -> tuple[float, float]:
    """Two logarithms of σ next to each other, between which the excess changes its sign."""
    there = log(BEGIN)
    below = excess(there) < 0
    for _ in range(FARTHEST):
        here, there = there, there + (log(FACTOR) if below else -log(FACTOR))
        if (excess(there) < 0) != below:
            break
    return here, there


def _near(
    loss: Slope, perturbations: Perturbations, sigma: float, origin: float
) -> tuple[Sampled, float]:
    """The mean rise at σ, and its derivative by σ."""
    rises, slopes = [], []
    for shift in perturbations.of(sigma):
        (up, rising), (down, falling) = (
            loss.value_and_gradient(loss.w + sign * shift) for sign in (1, -1)
        )
        rises.append((up + down).item() / 2 - origin)
        slopes.append((shift @ (rising - falling)).item() / (2 * sigma))
    return mean(torch.tensor(rises, dtype=torch.float64)), sum(slopes) / len(slopes)


@dataclass(frozen=True)
class Bound:
    """A bound, `error`, on the expected error of perturbed weights on new data.

    The expected error exceeds the bound only with a probability δ. The weights have the standard
    deviation `sigma` around w; `divergence` is that of their distribution from the prior.
    `training_error` is their mean error on the training data.
    """

    error: Sampled
    training_error: Sampled
    divergence: float
    sigma: float


def bound(
    errors: Callable[[Tensor], float],
    w: Tensor,
    prior: Tensor,
    tolerated_sigma: float,
    perturbations: Perturbations,
    examples: int,
    confidence: float,
) -> Bound:
    """The PAC-Bayes bound for an error in [0, 1] of normally distributed weights (Maurer 2004).

    With the probability `confidence` over `examples` independent examples, kl(training error ‖
    error) is at most (KL + ln(2√n/δ)) / n, which implies McAllester's bound. The prior has the same
    standard deviation, which depends on the data: therefore it is rounded down to 2^(j/4), and j
    has a prior probability proportional to 1/(|j| + 1)². The sampling of the training error is not
    part of the bound, but its standard error is passed on.
    """
    power = floor(FINENESS * log2(tolerated_sigma))
    sigma = 2 ** (power / FINENESS)
    drawn = [(errors(w + shift) + errors(w - shift)) / 2 for shift in perturbations.of(sigma)]
    observed = mean(torch.tensor(drawn, dtype=torch.float64))
    divergence = (w - prior).square().sum().item() / (2 * sigma**2)
    # Σ 1/(|j| + 1)² over all integers is π²/3 − 1.
    choice = 2 * log(abs(power) + 1) + log(pi**2 / 3 - 1)
    allowed = (divergence + choice + log(2 * sqrt(examples) / (1 - confidence))) / examples
    value = largest_error(observed.value, allowed)
    above = largest_error(min(1.0, observed.value + observed.standard_error), allowed)
    return Bound(Sampled(value, above - value), observed, divergence, sigma)


def largest_error(observed: float, divergence: float) -> float:
    """The largest q with kl(observed ‖ q) ≤ divergence, of two probabilities."""

    def beyond(q: float) -> float:
        return float(rel_entr(observed, q) + rel_entr(1 - observed, 1 - q)) - divergence

    # At 1 the divergence is infinite, unless all are wrong.
    if observed == 1 or beyond(1 - EPSILON) <= 0:
        return 1.0
    return float(brentq(beyond, observed, 1 - EPSILON))
