"""The regret of a minibatch: its loss at another minibatch's minimum, minus its own minimum.

Both minima are in a ball. To first order in its radius ε,
f₂(argmin f₁) − min f₂ = ε ‖g₂‖ (1 − cos(g₁, g₂)).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from flatlas.flatness.ball import Least, least_in_ball
from flatlas.flatness.loss import Loss
from flatlas.hessian.sampled import mean


@dataclass(frozen=True)
class Regret:
    """For each pair of minibatches: R/ε, 1 − cos(g₁, g₂), and both norms (pairs, 2)."""

    regret: Tensor
    dissimilarity: Tensor
    norms: Tensor

    @classmethod
    def of(cls, gradients: Tensor, duals: Tensor) -> "Regret":
        """The regret for gradients (pairs, 2, size) and their `duals`: the same, or F⁻¹ g."""
        norms = (gradients * duals).sum(-1).clamp_min(0).sqrt()
        overlap = (gradients[:, 1] * duals[:, 0]).sum(-1)
        # A zero gradient has cosine 0 with every other.
        cosine = overlap / norms.prod(1).where(norms.prod(1) > 0, 1.0)
        return cls(norms[:, 1] * (1 - cosine), 1 - cosine, norms)

    def summary(self) -> dict[str, float]:
        """Means over pairs, with their standard errors."""
        by_pair = {
            "regret": self.regret,
            "dissimilarity": self.dissimilarity,
            "norm": self.norms.mean(1),
        }
        means = {name: mean(values) for name, values in by_pair.items()}
        errors = {f"{name}_error": one.standard_error for name, one in means.items()}
        return {name: one.value for name, one in means.items()} | errors


@dataclass(frozen=True)
class TrueRegret:
    """f₂(argmin f₁) − min f₂ in the ball of radius ε, by descent.

    Residual and iterations are those of the worse search.
    """

    regret: float
    residual: float
    iterations: int
    converged: bool


def local_regret(pairs: Iterable[tuple[Loss, Loss]], w: Tensor) -> Regret:
    """The regret of pairs of minibatches at w, in the Euclidean ball."""
    found = [Regret.of(both, both) for both in gradients_of(pairs, w)]
    parts = ((one.regret, one.dissimilarity, one.norms) for one in found)
    return Regret(*map(torch.cat, zip(*parts, strict=True)))


def gradients_of(pairs: Iterable[tuple[Loss, Loss]], w: Tensor) -> Iterator[Tensor]:
    """Both gradients at w of each pair, (1, 2, size)."""
    for pair in pairs:
        yield torch.stack([one.value_and_gradient(w)[1] for one in pair]).unsqueeze(0)


def true_regret(pair: tuple[Loss, Loss], w: Tensor, radius: float) -> TrueRegret:
    """The regret of one pair in the ball around w."""
    first, second = (_least(one, w, radius) for one in pair)
    there = pair[1].value(w + first.place[0])
    return TrueRegret(
        regret=(there - second.value[0]).item(),
        residual=torch.maximum(first.residual, second.residual).item(),
        iterations=int(torch.maximum(first.iterations, second.iterations).item()),
        converged=bool((first.converged & second.converged).item()),
    )


def _least(of: Loss, w: Tensor, radius: float) -> Least:
    def rows(points: Tensor) -> tuple[Tensor, Tensor]:
        value, gradient = of.value_and_gradient(points[0])
        return value.unsqueeze(0), gradient.unsqueeze(0)

    return least_in_ball(rows, w.unsqueeze(0), radius)
