"""The local learning coefficient of a minimum (Lau et al. 2023).

The share of weights near a minimum w* whose loss is at most ε above it falls as ε^λ. A quadratic
minimum has λ = d/2 with d weights, a degenerate one has less. Its estimate is
λ̂ = nβ (E L(w) − L(w*)), where w has a density of exp(−nβ L(w) − γ/2 |w − w*|²) and β = 1/log n.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import exp, log
from typing import Protocol

import numpy as np
import torch
from scipy.special import stdtrit
from torch import Tensor

from flatlas.flatness.loss import Slope
from flatlas.hessian.hutchinson import Estimate, mean

# Steps are adapted until this share of them is accepted: the best for Langevin steps in many
# dimensions (Roberts & Rosenthal 1998). The noise of minibatches needs shorter ones.
ACCEPTED, ACCEPTED_OF_MINIBATCHES = 0.574, 0.95
# How fast that happens: the exponent of the Robbins-Monro series.
ADAPTATION = 0.4
# Chains are healthy within these limits. R-hat compares their halves (Gelman et al. 2013, §11.4).
R_HAT, LEAST_ACCEPTED = 1.1, 0.2
# Shares of the coefficient: how far it may differ between the halves of the chains, and how much
# minibatches may add to it.
DRIFT, MINIBATCH_BIAS = 0.1, 0.1
# A drift counts if it is also outside this interval around 0, of Student's distribution.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Posterior:
    """The density exp(−nβ L(w) − γ/2 |w − w*|²): nβ and the `localization` γ."""

    inverse_temperature: float
    localization: float


@dataclass(frozen=True)
class Run:
    """How many chains; the steps of each, after those of the burn-in, which adapt the step size.

    A `step_size` that is given is kept.
    """

    chains: int
    steps: int
    burn_in: int
    step_size: float | None = None


@dataclass(frozen=True)
class LearningCoefficient:
    """λ̂ with its standard error, and how healthy the chains are.

    `losses` (chains, steps) are the traces of L, estimated by minibatches if those are used.
    `drift` is how much larger λ̂ is in the second half of the chains than in the first.
    `minibatch_bias` is about the most that the noise of minibatches adds to λ̂. `verdict` has a
    sentence for each way in which the chains are not healthy.
    """

    coefficient: Estimate
    by_chain: np.ndarray
    losses: np.ndarray
    loss: float
    r_hat: float
    drift: Estimate
    accepted: float
    step_sizes: np.ndarray
    minibatch_bias: float
    verdict: tuple[str, ...]

    @property
    def converged(self) -> bool:
        """Whether all chains are healthy."""
        return not self.verdict


def learning_coefficient(
    loss: Slope,
    posterior: Posterior,
    run: Run,
    generator: torch.Generator,
    minibatches: Iterable[Slope] | None = None,
) -> LearningCoefficient:
    """λ̂ at the solution, from chains that begin there.

    Each Langevin step is accepted or rejected by the loss (Metropolis-adjusted), so that the size
    of the steps makes no error. With minibatches, whose mean is the loss, each step is on the next
    of them (SGLD).
    """
    origin, slope = loss.value_and_gradient(loss.w)
    parts: Iterable[_Term] = [loss]
    if minibatches is not None:
        parts = _Centred(minibatches, loss.w, origin, slope)
    wanted = ACCEPTED if minibatches is None else ACCEPTED_OF_MINIBATCHES
    density = _Density(posterior, loss.w)
    chains = [_chain(parts, density, run, wanted, generator) for _ in range(run.chains)]
    losses = np.stack([chain.losses for chain in chains])
    scale = posterior.inverse_temperature
    return _judged(
        scale * (losses - origin.item()),
        losses=losses,
        loss=origin.item(),
        accepted=float(np.mean([chain.accepted for chain in chains])),
        step_sizes=np.array([chain.step_size for chain in chains]),
        minibatch_bias=float(
            np.mean([chain.step_size * scale**2 * chain.noise / 8 for chain in chains])
        ),
    )


class _Term(Protocol):
    """A loss, or an estimate of it."""

    def value_and_gradient(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """Both at w."""


@dataclass(frozen=True)
class _CentredTerm:
    """A minibatch's loss plus a linear function such that value and slope at w* are those of L."""

    of: Slope
    solution: Tensor
    raised: Tensor
    tilted: Tensor

    def value_and_gradient(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """An unbiased estimate, since these functions are 0 in the mean over minibatches."""
        value, gradient = self.of.value_and_gradient(w)
        return value + self.raised + self.tilted @ (w - self.solution), gradient + self.tilted


@dataclass(frozen=True)
class _Centred:
    """Minibatches with control variates (Baker et al. 2019), which have no noise at w*.

    Around a minimum that is most of the noise. It costs another gradient for each minibatch.
    """

    minibatches: Iterable[Slope]
    solution: Tensor
    origin: Tensor
    slope: Tensor

    def __iter__(self) -> Iterator[_CentredTerm]:
        for one in self.minibatches:
            value, gradient = one.value_and_gradient(self.solution)
            yield _CentredTerm(one, self.solution, self.origin - value, self.slope - gradient)


@dataclass(frozen=True)
class _Place:
    """Some weights, a term of the loss, and minus the logarithm of the density with its slope."""

    of: _Term
    w: Tensor
    loss: float
    energy: float
    slope: Tensor


@dataclass(frozen=True)
class _Density:
    posterior: Posterior
    solution: Tensor

    def at(self, term: _Term, w: Tensor) -> _Place:
        """With a term instead of L."""
        value, gradient = term.value_and_gradient(w)
        scale, localization = self.posterior.inverse_temperature, self.posterior.localization
        away = w - self.solution
        energy = scale * value + localization / 2 * away.square().sum()
        slope = scale * gradient + localization * away
        return _Place(term, w, value.item(), energy.item(), slope)


@dataclass(frozen=True)
class _Chain:
    """The losses after the burn-in, and the trace of the covariance of minibatches' gradients."""

    losses: np.ndarray
    accepted: float
    step_size: float
    noise: float


@torch.no_grad()
def _chain(
    parts: Iterable[_Term],
    density: _Density,
    run: Run,
    accepted: float,
    generator: torch.Generator,
) -> _Chain:
    total, w = run.burn_in + run.steps, density.solution
    losses, chances, log_sizes = np.empty((3, total))
    # Far too long at first, except along flat directions: all steps are rejected until it shrinks.
    log_size = log(run.step_size or 1 / density.posterior.localization)
    here: _Place | None = None
    for step, term in zip(range(total), _endlessly(parts), strict=False):
        if here is None or here.of is not term:
            here = density.at(term, w)
        losses[step], log_sizes[step] = here.loss, log_size
        draw = torch.randn(w.shape, generator=generator, dtype=w.dtype, device=w.device)
        tried = w - exp(log_size) / 2 * here.slope + exp(log_size / 2) * draw
        there = density.at(term, tried)
        chances[step] = _chance(here, there, draw, exp(log_size))
        if torch.rand((), generator=generator, device=w.device).item() < chances[step]:
            here, w = there, tried
        if run.step_size is None and step < run.burn_in:
            log_size += (chances[step] - accepted) / (step + 1) ** ADAPTATION
            if step + 1 == run.burn_in:
                log_size = float(log_sizes[run.burn_in // 2 : run.burn_in].mean())
    kept = slice(run.burn_in, None)
    return _Chain(losses[kept], float(chances[kept].mean()), exp(log_size), _noise(parts, w))


def _noise(parts: Iterable[_Term], w: Tensor) -> float:
    """The trace of the covariance of the gradients of all parts.

    In a quadratic minimum, noise with variance s² along a direction adds ε (nβ)² s² / 8 to λ̂, to
    the first order of the step size ε; less if the localization counts.
    """
    total, squares, count = torch.zeros_like(w), 0.0, 0
    for part in parts:
        gradient = part.value_and_gradient(w)[1]
        total += gradient
        squares += gradient.square().sum().item()
        count += 1
    return max(0.0, squares / count - (total / count).square().sum().item())


def _endlessly(parts: Iterable[_Term]) -> Iterator[_Term]:
    while True:
        yield from parts


def _chance(here: _Place, there: _Place, draw: Tensor, size: float) -> float:
    """The probability with which a step is accepted."""
    back = here.w - there.w + size / 2 * there.slope
    gain = here.energy - there.energy
    gain += (draw.square().sum() / 2 - back.square().sum() / (2 * size)).item()
    # A loss that overflows is not a number.
    return exp(min(0.0, gain)) if np.isfinite(gain) else 0.0


def _judged(
    drawn: np.ndarray,
    losses: np.ndarray,
    loss: float,
    accepted: float,
    step_sizes: np.ndarray,
    minibatch_bias: float,
) -> LearningCoefficient:
    """The result of chains of nβ (L(w) − L(w*)), with its verdict."""
    half = drawn.shape[1] // 2
    halves = np.stack([drawn[:, :half], drawn[:, -half:]])
    means = torch.from_numpy(halves.mean(2))
    drift, found = mean(means[1] - means[0]), mean(means.flatten())
    by_chain = drawn.mean(1)
    value = float(by_chain.mean())
    r_hat = _r_hat(halves.reshape(-1, half))
    interval = stdtrit(len(by_chain) - 1, (1 + CONFIDENCE) / 2) * drift.standard_error
    moved = abs(drift.value) > max(DRIFT * abs(value), interval)
    complaints = [
        (
            bool((by_chain < 0).any()),
            f"{(by_chain < 0).sum()} of {len(by_chain)} chains have a negative coefficient, so w* "
            "is no minimum. Train longer, or raise the localization.",
        ),
        (
            not r_hat <= R_HAT,
            f"R-hat is {r_hat:.3g}, above {R_HAT}: the chains disagree. Take more steps.",
        ),
        (
            moved,
            f"The loss drifts: the second half of the chains adds {drift.value:.3g} to the "
            "coefficient. Take a longer burn-in, or raise the localization.",
        ),
        (
            accepted < LEAST_ACCEPTED,
            f"Only {accepted:.0%} of the steps are accepted. Take a smaller step size.",
        ),
        (
            minibatch_bias > MINIBATCH_BIAS * abs(value),
            f"Minibatches may add {minibatch_bias:.2g} to the coefficient. Take a smaller step "
            "size, larger batches, or all data at each step.",
        ),
    ]
    return LearningCoefficient(
        coefficient=Estimate(value, found.standard_error),
        by_chain=by_chain,
        losses=losses,
        loss=loss,
        r_hat=r_hat,
        drift=drift,
        accepted=accepted,
        step_sizes=step_sizes,
        minibatch_bias=minibatch_bias,
        verdict=tuple(sentence for wrong, sentence in complaints if wrong),
    )


def _r_hat(chains: np.ndarray) -> float:
    """R-hat of sequences (sequences, steps): 1 if they agree; NaN if none of them moves."""
    within = chains.var(1, ddof=1).mean()
    between = chains.mean(1).var(ddof=1)
    steps = chains.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.sqrt((steps - 1) / steps + between / within))
