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

# m, if it is not given.
MOST = 32


@dataclass(frozen=True)
class MSharpness(WorstOfParts):
    """The `mean` over groups of m `examples`, with its standard error."""

    examples: int

    def quantities(self) -> Mapping[str, Quantity]:
        """The mean alone, with the errors of the sample and of the searches."""
        error = hypot(self.mean.standard_error, self.search_error)
        found = Quantity(self.mean.value, error, self.converged)
        return {"m_sharpness": found}


def measure(
    problem: Problem,
    *,
    examples: PositiveInt | None = None,
    radius: PositiveFloat = 0.05,
    p: Exponent = 2,
    adaptive: bool = False,
    normalize_logits: bool = False,
    tolerance: PositiveFloat = 0.01,
    steps: PositiveInt = 100,
    starts: PositiveInt = 4,
) -> MSharpness:
    """With m `examples`, cut from each batch; those left at its end are left out.

    Without a choice m is 32, or the most of which there are two groups. The other options are those
    of `adaptive_sharpness`.
    """
    of = problem.training.of_normalized_logits() if normalize_logits else problem.training
    sizes = [batch.examples for batch in of.batches]
    wanted = [examples] if examples else range(MOST, 0, -1)
    enough = [m for m in wanted if sum(size // m for size in sizes) >= 2]
    if not enough:
        raise FlatlasError(
            f"the batches have {sum(size // wanted[-1] for size in sizes)} groups of {wanted[-1]} "
            "examples. Allowed: at least two, for a standard error. Take fewer examples, or larger "
            "batches."
        )
    parts = (of.on([part]) for batch in of.batches for part in batch.parts(enough[0]))
    found = worst_of_parts(
        parts,
        Neighbourhood(Ball(radius, p), adaptive),
        Search(tolerance, steps, starts),
        problem.generator("m-sharpness"),
    )
    return MSharpness(**vars(found), examples=enough[0])
