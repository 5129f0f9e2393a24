"""How large Gaussian perturbations of the weights may be for a given rise of the loss.

After Neyshabur et al. (2017) and Jiang et al. (2020), who limit the training error instead.
"""

from collections.abc import Mapping
from typing import Any

import torch
from pandas import DataFrame

from flatlas.flatness.pac_bayes import Perturbations, tolerated
from flatlas.measures.solution import Solution
from flatlas.measures.training_loss import TrainingLoss


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` is one row, of the loss on S; residual and iterations are of the worse search."""
    loss = TrainingLoss(solution)
    random = solution.generator("PAC-Bayes flatness")
    plain, magnitude = (
        tolerated(
            loss,
            Perturbations(scale, options["pairs"], random),
            options["rise"],
            options["tolerance"],
        )
        for scale in (torch.ones_like(loss.w), loss.w.abs())
    )
    summary = {
        "sigma": plain.sigma.value,
        "sigma_error": plain.sigma.standard_error,
        "sigma_magnitude": magnitude.sigma.value,
        "sigma_magnitude_error": magnitude.sigma.standard_error,
        "residual": max(plain.residual, magnitude.residual),
        "iterations": max(plain.iterations, magnitude.iterations),
        "converged": plain.converged and magnitude.converged,
    }
    return {"summary": DataFrame([summary])}
