"""The regret of a minibatch: its loss at another minibatch's minimum, minus its own minimum."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch

from flatlas.errors import FlatlasError
from flatlas.flatness import regret as flatness
from flatlas.flatness.regret import TrueRegret, gradients_of, local_regret, true_regret
from flatlas.hessian.natural import NaturalGradients
from flatlas.hessian.sampled import mean
from flatlas.library.fisher import logits_of, natural_gradients
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem
from flatlas.models.objective import Objective
from flatlas.plan.bounds import NonNegative, Positive


@dataclass(frozen=True)
class Regret:
    """`local` is R/ε of each pair to first order, `true` is R in a ball of radius ε.

    `in_kl_ball` is R/ε in a ball of KL divergence. `natural` are the natural gradients that it is
    computed from, with their accuracy.
    """

    local: flatness.Regret
    true: list[TrueRegret]
    in_kl_ball: flatness.Regret | None
    natural: NaturalGradients | None

    def quantities(self) -> Mapping[str, Quantity]:
        """Means over pairs, with their standard errors."""
        found = _means(self.local, "", converged=True)
        if self.in_kl_ball is not None and self.natural is not None:
            found |= _means(self.in_kl_ball, "kl_", self.natural.converged)
        if self.true:
            true = mean(torch.from_numpy(np.array([one.regret for one in self.true])))
            converged = all(one.converged for one in self.true)
            found["true_regret"] = Quantity.of(true, converged)
        return found


def _means(regret: flatness.Regret, prefix: str, converged: bool) -> dict[str, Quantity]:
    means = regret.summary()
    return {
        f"{prefix}{name}": Quantity(means[name], means[f"{name}_error"], converged)
        for name in ("regret", "dissimilarity", "norm")
    }


def measure(
    problem: Problem,
    *,
    radius: Positive | None = None,
    damping: NonNegative | None = None,
) -> Regret:
    """For pairs of successive batches, ‖g₂‖ (1 − cos(g₁, g₂)) with the gradients g of their losses.

    This is f₂(argmin f₁) − min f₂ in a small ball, divided by its radius ε. With a `radius`,
    descent also computes the regret for that ball; divide it by ε to compare the two. With a
    `damping` λ, the regret is also that in a ball of symmetrized KL divergence of the model's
    predictions: norms and angles are then those of gᵀ (F + λ diag F)⁻¹ g, with the Fisher matrix F
    on all data. Pairs are independent if the batches are random. A batch whose labels are all
    ignored is left out.
    """
    objective = problem.training
    local = local_regret(_pairs(objective), objective.w)
    true = [true_regret(pair, objective.w, radius) for pair in _pairs(objective)] if radius else []
    if damping is None:
        return Regret(local, true, None, None)
    gradients = torch.cat([*gradients_of(_pairs(objective), objective.w)])
    natural = natural_gradients(objective, gradients.flatten(0, 1), damping)
    in_kl_ball = flatness.Regret.of(gradients, natural.x.view_as(gradients))
    return Regret(local, true, in_kl_ball, natural)


def check(problem: Problem, *, damping: float | None, **_: Any) -> None:
    """Raise an error without two pairs of batches, or without probabilities for a damping."""
    batches = len([*islice(problem.training.counted(), 4)])
    if batches < 4:
        raise FlatlasError(
            f"batches with a label that counts: {batches}. Allowed: at least four for the regret, "
            "since a standard error takes two pairs of batches."
        )
    if damping is not None:
        next(logits_of(problem.training))


def _pairs(objective: Objective) -> Iterator[tuple[Objective, Objective]]:
    """The first and second batch, the third and fourth, and so on, without an odd last batch."""
    losses = (objective.on([batch]) for batch in objective.counted())
    return zip(losses, losses, strict=False)
