"""How far the loss rises around w: at worst within a ball, and in the mean.

Adaptive, each weight is displaced in units of itself (ASAM, Kwon et al. 2021; Andriushchenko et al.
2023): rescaling layers of a ReLU network then changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import PositiveFloat, PositiveInt

from flatlas.flatness.adaptive_sharpness import Neighbourhood, Search, Worst, mean_rise, worst
from flatlas.flatness.ball import Ball, Exponent
from flatlas.hessian.hutchinson import Estimate
from flatlas.library.curvature import Probes
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem


@dataclass(frozen=True)
class AdaptiveSharpness:
    """The `worst` rise of the loss within the ball, a lower bound, and its `mean`."""

    worst: Worst
    mean: Estimate

    def quantities(self) -> Mapping[str, Quantity]:
        """Both, and the largest rise to first order, which is of the gradient alone."""
        return {
            "worst": Quantity(self.worst.rise, self.worst.error, self.worst.converged),
            "mean": Quantity(self.mean.value, self.mean.standard_error),
            "first_order": Quantity(self.worst.first_order),
        }


def measure(
    problem: Problem,
    *,
    radius: PositiveFloat = 0.05,
    p: Exponent = 2,
    adaptive: bool = True,
    normalize_logits: bool = False,
    probes: Probes = 10,
    tolerance: PositiveFloat = 0.01,
    steps: PositiveInt = 100,
    starts: PositiveInt = 8,
) -> AdaptiveSharpness:
    """With displacements c ⊙ u, where c is |w|, or 1 if not `adaptive`.

    At worst ‖u‖_p is at most `radius`. The mean is over Gaussian u, whose standard deviation in
    each direction is `radius`, from `probes` pairs of opposite ones. The search begins at w and at
    `starts` − 1 random points. It has converged when the slope predicts that the loss would rise by
    at most `tolerance` more, relative to its rise so far; it takes at most `steps`. The starts may
    find several local maxima: the error of the largest is at least what the second lacks.
    """
    of = problem.training.of_normalized_logits() if normalize_logits else problem.training
    around, search = Neighbourhood(Ball(radius, p), adaptive), Search(tolerance, steps, starts)
    found = worst(of, around, search, problem.generator("worst in a ball"))
    mean = mean_rise(of, around, probes, problem.generator("mean around w"))
    return AdaptiveSharpness(found, mean)
