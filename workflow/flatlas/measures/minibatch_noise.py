"""The noise of minibatch gradients along the Hessian's eigenvectors (§2.5, Fig. 6).

Every learner draws its own random minibatches and takes their gradients at its own weights. The
directions are the eigenvectors of the Hessian at W_a, the mean of the learners (Eq. 13).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.measures.curvature import hessian, loss_slope
from flatlas.measures.minibatches import minibatches
from flatlas.measures.solution import Solution
from flatlas.measures.tables import table_of


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`directions` has a row for each n, by descending H_n.

    `noise` is Δ_n, the standard deviation of a gradient's component over all minibatches of all
    learners; `noise_of_mean` is that of the learners' mean, which moves W_a. Both estimate the
    variance without bias from the drawn minibatches.
    """
    layer = options["layer"]
    eigenvalues, eigenvectors = torch.linalg.eigh(
        hessian(solution, layer, solution.into(layer, solution.inputs))
    )
    learners = _learners(solution)
    shape = len(learners), options["minibatches"], options["batch"]
    drawn = minibatches(solution, "minibatch noise", shape)
    components = torch.stack(
        [
            _gradients(learner, layer, own) @ eigenvectors
            for learner, own in zip(learners, drawn, strict=True)
        ]
    )
    columns = {
        "eigenvalue": eigenvalues,
        "noise": components.flatten(0, 1).std(0),
        "noise_of_mean": components.mean(0).std(0),
    }
    descending = {name: column.flip(0) for name, column in columns.items()}
    return {"directions": table_of(descending, numbered="n")}


def _learners(solution: Solution) -> list[Solution]:
    """Each learner as a separate solution."""
    m = len(next(iter(solution.learners.values())))
    return [
        replace(solution, parameters={name: w[j : j + 1] for name, w in solution.learners.items()})
        for j in range(m)
    ]


def _gradients(solution: Solution, layer: str, drawn: Tensor) -> Tensor:
    """The layer's flattened gradient of each minibatch's mean loss, a row each.

    An image's gradient is a_i δ_j with δ = ∂l/∂z, so a minibatch's gradient is a matrix product.
    """
    activity = solution.into(layer, solution.inputs)
    z = solution.preactivation(layer, activity).requires_grad_()
    a, delta = activity.squeeze(0), loss_slope(solution, layer, z, solution.labels).squeeze(0)
    gradients = [(a[images].T @ delta[images]).flatten() for images in drawn]
    return torch.stack(gradients) / drawn.shape[1]
