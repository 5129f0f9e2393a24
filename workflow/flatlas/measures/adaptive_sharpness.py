"""How far the loss rises within a ball around the weights, in units of each weight.

After Kwon et al. (2021) and Andriushchenko et al. (2023).
"""

from collections.abc import Mapping
from typing import Any

from pandas import DataFrame

from flatlas.flatness.adaptive_sharpness import Neighbourhood, Search, mean_rise, worst
from flatlas.flatness.ball import Ball
from flatlas.measures.solution import Solution
from flatlas.measures.training_loss import TrainingLoss


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` is one row, for the loss on S."""
    loss = TrainingLoss(solution)
    around = Neighbourhood(Ball(options["radius"], options["p"]), options["adaptive"])
    search = Search(options["tolerance"], options["steps"], options["starts"])
    random = solution.generator("adaptive sharpness")
    found = worst(loss, around, search, random)
    mean = mean_rise(loss, around, options["pairs"], random)
    summary = {
        "adaptive_sharpness": found.rise,
        "adaptive_sharpness_error": found.error,
        "first_order": found.first_order,
        "mean_rise": mean.value,
        "mean_rise_error": mean.standard_error,
        "loss": found.loss,
        "residual": found.residual,
        "iterations": found.iterations,
        "converged": found.converged,
    }
    return {"summary": DataFrame([summary])}
