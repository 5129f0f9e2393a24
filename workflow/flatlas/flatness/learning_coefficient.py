"""The local learning coefficient of a minimum (Lau et al. 2023).

The share of weights near a minimum w* whose loss is at most ε above it falls as ε^λ. A quadratic
minimum has λ = d/2 with d weights, a degenerate one has less. Its estimate is
λ̂ = nβ (E L(w) − L(w*)), where w has a density of exp(−nβ L(w) − γ/2 |w − w*|²) and β = 1/log n.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import cos, exp, log, pi, sin
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from flatlas.flatness.loss import Slope
from flatlas.hessian.sampled import Sampled, mean
from flatlas.statistics.student import standard_errors

# Steps are adapted until this share of them is accepted, which suits Hamiltonian steps in many
# dimensions (Beskos et al. 2013). The noise of minibatches needs shorter ones.
ACCEPTED, ACCEPTED_OF_MINIBATCHES = 0.65, 0.95
# How fast steps adapt: the exponent of the Robbins-Monro series.
ADAPTATION = 0.4
# The multiples of the golden ratio, modulo 1, fill an interval evenly.
GOLDEN = (5**0.5 - 1) / 2
# Chains are healthy within these limits. R-hat compares their halves (Gelman et al. 2013, §11.4).
R_HAT, LEAST_ACCEPTED = 1.1, 0.2
# Shares of the coefficient: how far it may differ between the halves of the chains, and how much
# minibatches may add to it.
DRIFT, MINIBATCH_BIAS = 0.1, 0.1


@dataclass(frozen=True)
class Posterior:
    """The density exp(−nβ L(w) − γ/2 |w − w*|²): nβ and the `localization` γ."""

    inverse_temperature: float
    localization: float


@dataclass(frozen=True)
class Run:
    """The number of chains, and the steps of each after the burn-in, which adapts the step size.

    A given `step_size` is not adapted. Each step takes `leaps` gradients. With several, a step goes
    farther, up to a quarter of an oscillation, and the length of the leaps varies from step to
    step, down to half. Step sizes are those of the longest leaps.
    """

    chains: int
    steps: int
    burn_in: int
    step_size: float | None = None
    leaps: int = 1


@dataclass(frozen=True)
class LearningCoefficient:
    """λ̂ with its standard error, and how healthy the chains are.

    `losses` (chains, steps) are the traces of L, estimated by minibatches if these are used.
    `drift` is how much larger λ̂ is in the second half of the chains than in the first.
    `minibatch_bias` is about the most that the noise of minibatches adds to λ̂. `verdict` has a
    sentence for each way in which the chains are not healthy.
    """

    coefficient: Sampled
    by_chain: np.ndarray
    losses: np.ndarray
    loss: float
    r_hat: float
    drift: Sampled
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

    Each Hamiltonian step is accepted or rejected (Metropolis-adjusted), so the step size causes no
    error. Between the kicks of the loss, a step follows the exact motion under the localization
    alone (Beskos et al. 2011): directions in which the loss is flat, however many, cause no
    rejections. With minibatches, whose mean is the loss, each step uses the next minibatch.
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
        """The loss and its gradient at w."""


@dataclass(frozen=True)
class _CentredTerm:
    """A minibatch's loss plus the linear function that makes value and slope at w* those of L."""

    of: Slope
    solution: Tensor
    offset: Tensor
    tilt: Tensor

    def value_and_gradient(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """An unbiased estimate: the mean of the linear functions over all minibatches is 0."""
        value, gradient = self.of.value_and_gradient(w)
        return value + self.offset + self.tilt @ (w - self.solution), gradient + self.tilt


@dataclass(frozen=True)
class _Centred:
    """Minibatches with control variates (Baker et al. 2019), which have no noise at w*.

    Around a minimum they remove most of the noise. Each minibatch takes another gradient.
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
    """A shift y = √γ (w − w*), a term of the loss, and nβ L there with its slope by y."""

    of: _Term
    y: Tensor
    loss: float
    potential: float
    slope: Tensor

    def energy(self, momentum: Tensor) -> float:
        """nβ L + |y|²/2 + |momentum|²/2; both have the density exp(−energy)."""
        return self.potential + (self.y @ self.y + momentum @ momentum).item() / 2


@dataclass(frozen=True)
class _Density:
    posterior: Posterior
    solution: Tensor

    def at(self, term: _Term, y: Tensor) -> _Place:
        """The place at y, with a term instead of L."""
        scale, root = self.posterior.inverse_temperature, self.posterior.localization**0.5
        value, gradient = term.value_and_gradient(self.solution + y / root)
        return _Place(term, y, value.item(), scale * value.item(), scale / root * gradient)

    def leap(self, here: _Place, momentum: Tensor, angle: float) -> tuple[_Place, Tensor]:
        """A kick, a rotation of y and its momentum, and a kick."""
        kicked = momentum - angle / 2 * here.slope
        there = self.at(here.of, cos(angle) * here.y + sin(angle) * kicked)
        turned = cos(angle) * kicked - sin(angle) * here.y
        return there, turned - angle / 2 * there.slope


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
    total, y = run.burn_in + run.steps, torch.zeros_like(density.solution)
    losses, chances, log_angles = np.empty((3, total))
    # A step size ε moves w as far as a Langevin step does. The first steps are far too long, except
    # along flat directions, and are rejected until ε shrinks.
    localization, most = density.posterior.localization, log(pi / 2 / run.leaps)
    log_angle = most if run.step_size is None else log(run.step_size * localization) / 2
    here: _Place | None = None
    for step, term in zip(range(total), _repeated(parts), strict=False):
        if here is None or here.of is not term:
            here = density.at(term, y)
        losses[step], log_angles[step] = here.loss, log_angle
        drawn = torch.randn(y.shape, generator=generator, dtype=y.dtype, device=y.device)
        there, momentum = here, drawn
        # Several leaps of constant length may turn a direction by half an oscillation at each step:
        # the loss along it would never change.
        angle = exp(log_angle) * (1 - step * GOLDEN % 1 / 2 if run.leaps > 1 else 1)
        for _ in range(run.leaps):
            there, momentum = density.leap(there, momentum, angle)
        chances[step] = _chance(here.energy(drawn) - there.energy(momentum))
        if torch.rand((), generator=generator, device=y.device).item() < chances[step]:
            here, y = there, there.y
        if run.step_size is None and step < run.burn_in:
            log_angle += (chances[step] - accepted) / (step + 1) ** ADAPTATION
            log_angle = min(log_angle, most)
            if step + 1 == run.burn_in:
                log_angle = float(log_angles[run.burn_in // 2 : run.burn_in].mean())
    kept, step_size = slice(run.burn_in, None), exp(2 * log_angle) / localization
    w = density.solution + y / localization**0.5
    return _Chain(losses[kept], float(chances[kept].mean()), step_size, _noise(parts, w))


def _noise(parts: Iterable[_Term], w: Tensor) -> float:
    """The trace of the covariance of the gradients of all parts.

    In a quadratic minimum, noise with variance s² along a direction adds ε (nβ)² s² / 8 to λ̂, to
    first order in the step size ε; less if the localization counts.
    """
    total, squares, count = torch.zeros_like(w), 0.0, 0
    for part in parts:
        gradient = part.value_and_gradient(w)[1]
        total += gradient
        squares += gradient.square().sum().item()
        count += 1
    return max(0.0, squares / count - (total / count).square().sum().item())


def _repeated(parts: Iterable[_Term]) -> Iterator[_Term]:
    while True:
        yield from parts


def _chance(gain: float) -> float:
    """The probability of accepting a step that lowers the energy by `gain`."""
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
    return LearningCoefficient(
        coefficient=Sampled(value, found.standard_error),
        by_chain=by_chain,
        losses=losses,
        loss=loss,
        r_hat=r_hat,
        drift=drift,
        accepted=accepted,
        step_sizes=step_sizes,
        minibatch_bias=minibatch_bias,
        verdict=_verdict(by_chain, r_hat, drift, accepted, minibatch_bias),
    )


def _verdict(
    by_chain: np.ndarray, r_hat: float, drift: Sampled, accepted: float, minibatch_bias: float
) -> tuple[str, ...]:
    """A sentence for each way in which the chains are not healthy."""
    size = abs(float(by_chain.mean()))
    # A drift counts only if Student's interval around it excludes 0, too.
    interval = float(standard_errors(len(by_chain))) * drift.standard_error
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
            abs(drift.value) > max(DRIFT * size, interval),
            f"The loss drifts: the second half of the chains adds {drift.value:.3g} to the "
            "coefficient. Take a longer burn-in, or raise the localization.",
        ),
        (
            accepted < LEAST_ACCEPTED,
            f"Only {accepted:.0%} of the steps are accepted. Take a smaller step size.",
        ),
        (
            minibatch_bias > MINIBATCH_BIAS * size,
            f"Minibatches may add {minibatch_bias:.2g} to the coefficient. Take a smaller step "
            "size, larger batches, or all data at each step.",
        ),
    ]
    return tuple(sentence for wrong, sentence in complaints if wrong)


def _r_hat(chains: np.ndarray) -> float:
    """R-hat of sequences (sequences, steps): 1 if they agree; NaN if none of them moves."""
    within = chains.var(1, ddof=1).mean()
    between = chains.mean(1).var(ddof=1)
    steps = chains.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.sqrt((steps - 1) / steps + between / within))
