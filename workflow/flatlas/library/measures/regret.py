"""The regret of minibatches: what the minimum of one in a small ball costs another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import torch
from pydantic import PositiveFloat

from flatlas.errors import FlatlasError
from flatlas.flatness import regret as flatness
from flatlas.flatness.regret import TrueRegret, local_regret, true_regret
from flatlas.hessian.hutchinson import mean
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem
from flatlas.models.objective import Objective
from flatlas.models.parts import Parts


@dataclass(frozen=True)
class Regret:
    """`local` is R/ε of each pair to first order, `true` is R in a ball of radius ε."""

    local: flatness.Regret
    true: list[TrueRegret]

    def quantities(self) -> Mapping[str, Quantity]:
        """Means over pairs, with their standard errors."""
        means = self.local.summary()
        found = {
            name: Quantity(means[name], means[f"{name}_error"])
            for name in ("regret", "dissimilarity", "norm")
        }
        if self.true:
            true = mean(torch.tensor([one.regret for one in self.true], dtype=torch.float64))
            converged = all(one.converged for one in self.true)
            found["true_regret"] = Quantity(true.value, true.standard_error, converged)
        return found


def measure(problem: Problem, *, radius: PositiveFloat | None = None) -> Regret:
    """For pairs of successive batches, ‖g₂‖ (1 − cos(g₁, g₂)) with their gradients g.

    That is f₂(argmin f₁) − min f₂ in a small ball, over its radius ε. With a `radius` it is also
    computed for that ball, by descent; both are then comparable after division by ε. Pairs are
    independent if the batches are random.
    """
    of = problem.training
    parts = Parts(of)
    if len(parts.examples) < 4:
        raise FlatlasError(
            f"the data have {len(parts.examples)} batches. Allowed: at least four for the regret, "
            "two pairs of batches, which a standard error takes."
        )
    local = local_regret(_pairs(parts), of.w)
    true = [true_regret(pair, of.w, radius) for pair in _pairs(parts)] if radius else []
    return Regret(local, true)


def _pairs(parts: Parts) -> Iterator[tuple[Objective, Objective]]:
    """The first and second batch, the third and fourth, and so on; a last one alone is left out."""
    batches = iter(parts)
    while len(pair := tuple(islice(batches, 2))) == 2:
        yield pair[0], pair[1]
