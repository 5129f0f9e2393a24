"""The local learning coefficient (Lau et al. 2023): how fast the volume of low loss shrinks."""

from collections.abc import Mapping
from math import log
from typing import Any

from pandas import DataFrame

from flatlas.flatness.learning_coefficient import Posterior, Run, learning_coefficient
from flatlas.measures.solution import Solution
from flatlas.measures.training_loss import TrainingLoss


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` is one row, of all images in S at each step, with β = 1/log n."""
    loss = TrainingLoss(solution)
    # Two images at least, for a logarithm above 0.
    posterior = Posterior(loss.images / log(max(2, loss.images)), options["localization"])
    run = Run(options["chains"], options["steps"], options["burn_in"], leaps=options["leaps"])
    found = learning_coefficient(loss, posterior, run, solution.generator("learning coefficient"))
    summary = {
        "learning_coefficient": found.coefficient.value,
        "learning_coefficient_error": found.coefficient.standard_error,
        "drift": found.drift.value,
        "drift_error": found.drift.standard_error,
        "accepted": found.accepted,
        "verdict": " ".join(found.verdict),
        "loss": found.loss,
        "residual": found.r_hat - 1,
        "iterations": run.chains * (run.burn_in + run.steps) * run.leaps,
        "converged": found.converged,
    }
    return {"summary": DataFrame([summary])}
