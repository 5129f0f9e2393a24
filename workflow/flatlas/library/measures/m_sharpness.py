"""m-sharpness (Foret et al. 2021): the mean worst rise of the loss of m examples.

Each group of m examples has its own worst displacement. SAM minimizes this, with one step to first
order for each group.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import hypot

import numpy as np
import torch
from pydantic import PositiveInt

from flatlas.errors import FlatlasError
from flatlas.flatness.adaptive_sharpness import worst
from flatlas.flatness.ball import Exponent
from flatlas.hessian.sampled import Sampled, mean
from flatlas.library.found import Quantity
from flatlas.library.options import OfAscent
from flatlas.library.problem import Problem
from flatlas.models.batches import Batch
from flatlas.models.objective import Objective
from flatlas.plan.bounds import Positive

# The largest default of m.
MOST = 32


@dataclass(frozen=True)
class MSharpness:
    """The `mean` over groups of m `examples` of the worst rise of each, with its standard error.

    `rises` and `residuals` are those of each group, `search_error` is the mean of their errors, and
    `iterations` the sum. `converged` refers to all of them.
    """

    mean: Sampled
    search_error: float
    rises: np.ndarray
    residuals: np.ndarray
    iterations: int
    converged: bool
    examples: int

    def quantities(self) -> Mapping[str, Quantity]:
        """The mean alone, with the errors of the sample and of the searches."""
        error = hypot(self.mean.standard_error, self.search_error)
        return {"m_sharpness": Quantity(self.mean.value, error, self.converged)}


class Options(OfAscent):
    """`examples` is m, the number in a group; by default the neighbourhood is that of SAM.

    Without `examples`, m is 32, or the largest number below it with two groups.
    """

    radius: Positive = 0.05
    p: Exponent = 2
    adaptive: bool = False
    examples: PositiveInt | None = None


def measure(problem: Problem, options: Options) -> MSharpness:
    """The largest rise of the loss of m examples in the neighbourhood; mean over groups.

    Groups are cut from each batch; a smaller rest at its end is left out, and so is a group whose
    labels are all ignored.
    """
    objective = options.loss(problem.training)
    examples = _examples(objective, options)
    groups = (objective.on([group]) for group in _groups(objective, examples))
    random = problem.generator("m-sharpness")
    found = [worst(part, options.around, options.search, random) for part in groups]
    rises = np.array([one.rise for one in found])
    return MSharpness(
        mean=mean(torch.from_numpy(rises)),
        search_error=float(np.mean([one.error for one in found])),
        rises=rises,
        residuals=np.array([one.residual for one in found]),
        iterations=sum(one.iterations for one in found),
        converged=all(one.converged for one in found),
        examples=examples,
    )


def check(problem: Problem, options: Options) -> None:
    """Raise an error if logits can't be normalized for the loss, or if there are too few groups."""
    _examples(options.loss(problem.training), options)


def _examples(objective: Objective, options: Options) -> int:
    """m: as given, or the largest number up to MOST with two groups."""
    sizes = [batch.examples for batch in objective.batches]
    wanted = [options.examples] if options.examples else range(MOST, 0, -1)
    m = next((m for m in wanted if sum(size // m for size in sizes) >= 2), wanted[-1])
    found = len([*islice(_groups(objective, m), 2)])
    if found < 2:
        fewer = "Take fewer examples in a group, or larger batches" if m > 1 else "Give more data"
        raise FlatlasError(
            f"groups of {m} examples with a label that counts: {found}. Allowed: at least two, for "
            f"a standard error. {fewer}."
        )
    return m


def _groups(objective: Objective, m: int) -> Iterator[Batch]:
    """The groups of m examples with a label that counts."""
    return objective.on(part for batch in objective.batches for part in batch.parts(m)).counted()
