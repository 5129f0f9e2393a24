"""How far the loss rises around w: at worst within a ball, and in the mean.

If adaptive, each weight's displacement is in units of the weight (ASAM, Kwon et al. 2021;
Andriushchenko et al. 2023): rescaling layers of a ReLU network then changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from flatlas.flatness.adaptive_sharpness import Worst, mean_rise, worst
from flatlas.hessian.sampled import Sampled
from flatlas.library.found import Quantity
from flatlas.library.options import SHARPNESS, OfAscent
from flatlas.library.problem import Problem
from flatlas.plan.bounds import AtLeastTwo


@dataclass(frozen=True)
class AdaptiveSharpness:
    """The `worst` rise of the loss within the ball, a lower bound, and its `mean`."""

    worst: Worst
    mean: Sampled

    def quantities(self) -> Mapping[str, Quantity]:
        """Both, and the largest rise to first order, which depends only on the gradient."""
        return {
            "worst": Quantity(self.worst.rise, self.worst.error, self.worst.converged),
            "mean": Quantity.of(self.mean),
            "first_order": Quantity(self.worst.first_order),
        }


class Options(OfAscent):
    """`pairs` is the number of opposite u, −u over which the mean rise is taken."""

    pairs: AtLeastTwo = SHARPNESS.pairs


def measure(problem: Problem, options: Options) -> AdaptiveSharpness:
    """The largest rise of the loss in the neighbourhood, and the mean rise over Gaussian u.

    For the mean, the standard deviation of u in each direction is the radius. The starts may find
    several local maxima: the error of the largest is at least its distance to the second.
    """
    objective, around = options.loss(problem.training), options.around
    found = worst(objective, around, options.search, problem.generator("worst in a ball"))
    mean = mean_rise(objective, around, options.pairs, problem.generator("mean around w"))
    return AdaptiveSharpness(found, mean)


def check(problem: Problem, options: Options) -> None:
    """Raise an error if logits can't be normalized for the loss."""
    options.loss(problem.training)
