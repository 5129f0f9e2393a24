"""m-sharpness (Foret et al. 2021): the worst rise of the loss on m examples, over all of them.

Each group of m examples has its own worst displacement. SAM minimizes this, with one step to first
order for each group.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot

from pydantic import PositiveFloat, PositiveInt

from flatlas.errors import FlatlasError
from flatlas.flatness.adaptive_sharpness import Neighbourhood, Search, WorstOfParts, worst_of_parts
from flatlas.flatness.ball import Ball, Exponent
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem


@dataclass(frozen=True)
class MSharpness(WorstOfParts):
    """The `mean` over groups of examples, with its standard error."""

    def quantities(self) -> Mapping[str, Quantity]:
        """The mean alone, with the errors of the sample and of the searches."""
        error = hypot(self.mean.standard_error, self.search_error)
        found = Quantity(self.mean.value, error, self.converged)
        return {"m_sharpness": found}


def measure(
    problem: Problem,
    *,
    examples: PositiveInt = 32,
    radius: PositiveFloat = 0.05,
    p: Exponent = 2,
    adaptive: bool = False,
    normalize_logits: bool = False,
    tolerance: PositiveFloat = 0.01,
    steps: PositiveInt = 100,
    starts: PositiveInt = 4,
) -> MSharpness:
    """With m `examples`, cut from each batch; those left at its end are left out.

    The other options are those of `adaptive_sharpness`.
    """
    of = problem.training.of_normalized_logits() if normalize_logits else problem.training
    groups = sum(batch.examples // examples for batch in of.batches)
    if groups < 2:
        raise FlatlasError(
            f"the batches have {groups} groups of {examples} examples. Allowed: at least two, for "
            "a standard error. Take fewer examples, or larger batches."
        )
    parts = (of.on([part]) for batch in of.batches for part in batch.parts(examples))
    found = worst_of_parts(
        parts,
        Neighbourhood(Ball(radius, p), adaptive),
        Search(tolerance, steps, starts),
        problem.generator("m-sharpness"),
    )
    return MSharpness(**vars(found))
