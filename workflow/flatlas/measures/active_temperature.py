"""The active temperature T_i of SGD along the principal directions of its trajectory (Fig. 5).

T_i(δθ) = α/2 ⟨(∂δL^µ/∂δθ)²⟩_µ at w0 + δθ p_i, with δL^µ = L^µ − L (Eq. 17). The mean over all
minibatches needs no sampling: for B of M images drawn without replacement, the mean slope has
variance S² / B (1 − B/M), where S² is the variance of the slopes ∂l_k/∂δθ of single images.
"""

from collections.abc import Mapping, Sequence
from math import e
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.measures.landscape import interval
from flatlas.measures.minibatches import refuse_too_large
from flatlas.measures.principal import Principal, principal_of
from flatlas.measures.solution import Solution
from flatlas.nets.loss import sample_losses

# The points of a profile, in units of F_i.
UNITS = torch.arange(-20, 21, dtype=torch.float64) / 20
# Images processed at a time: their data fits into the caches.
IMAGES = 2500


def measure_stack(
    solutions: Sequence[Solution], options: Mapping[str, Any]
) -> list[dict[str, DataFrame]]:
    """`directions` has T_i(0) for each p_i and the loss L_0; `profiles` T_i and L_i of some ranks.

    A profile goes from −F_i to F_i, with the width F_i of the valley at that moment. All moments of
    a training share the directions of its recording.
    """
    refuse_too_large(options["batch"], solutions[0])
    found = principal_of(solutions[0], options["layer"], options["directions"])
    return [_measure(solution, found, options) for solution in solutions]


def _measure(
    solution: Solution, found: Principal, options: Mapping[str, Any]
) -> dict[str, DataFrame]:
    layer = options["layer"]
    directions = found.matrices(solution.net.dense(layer).fans)
    activity = solution.into(layer, solution.inputs)
    z = solution.preactivation(layer, activity)
    losses, delta = _losses_and_deltas(solution, layer, z)
    slopes = [((activity @ direction) * delta).sum(-1) for direction in directions]
    table = DataFrame(
        {
            "rank": range(1, len(directions) + 1),
            "variance": found.variances.cpu().numpy(),
            "temperature": [_temperature(some, options) for some in slopes],
            "loss": losses.mean().item(),
        }
    )
    return {"directions": table, "profiles": _profiles(solution, activity, directions, options)}


def _temperature(slopes: Tensor, options: Mapping[str, Any]) -> float:
    """T_i from the slopes of all images along direction i."""
    images, batch = slopes.numel(), options["batch"]
    variance = slopes.var(correction=1).item() / batch * (1 - batch / images)
    return float(options["lr"] / 2 * variance)


def _profiles(
    solution: Solution, activity: Tensor, directions: Tensor, options: Mapping[str, Any]
) -> DataFrame:
    layer, rows = options["layer"], []
    shown = directions[[rank - 1 for rank in options["profiles"]]]
    left, right = interval(solution, layer, activity, shown, e)
    z = solution.preactivation(layer, activity)
    for rank, direction, flatness in zip(
        options["profiles"], shown, (right.at - left.at).tolist(), strict=True
    ):
        change = activity @ direction
        for step in (flatness * UNITS).tolist():
            losses, delta = _losses_and_deltas(solution, layer, z + step * change)
            temperature = _temperature((change * delta).sum(-1), options)
            rows.append((rank, step, temperature, losses.mean().item()))
    return DataFrame(rows, columns=["rank", "delta", "temperature", "loss"])


def _losses_and_deltas(solution: Solution, layer: str, z: Tensor) -> tuple[Tensor, Tensor]:
    """l_k and ∂l_k/∂z for all images, from the pre-activations z."""
    losses: list[Tensor] = []
    deltas: list[Tensor] = []
    for here, labels in solution.blocks(z, IMAGES):
        block = here.detach().requires_grad_()
        some = sample_losses(solution.logits_from(layer, block), labels)
        deltas += torch.autograd.grad(some.sum(), block)
        losses.append(some.detach())
    return torch.cat(losses, dim=1), torch.cat(deltas, dim=1)
