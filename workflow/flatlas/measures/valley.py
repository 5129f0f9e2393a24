"""The valley of the training loss along the principal directions p_i of SGD (Eqs. 6-8, Fig. 2).

L_i(δθ) = L(w0 + δθ p_i), with all other layers fixed. The paper's w0 is "a specific solution
reached by SGD"; here it is the solution at the chosen moment (for `final`, the last recorded one).
"""

from collections.abc import Mapping
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.measures.curvature import gradient
from flatlas.measures.landscape import both, interval, loss_along
from flatlas.measures.principal import principal_of
from flatlas.measures.solution import Solution
from flatlas.measures.tables import table_of
from flatlas.nets.loss import sample_losses

# The points of a profile, in units of F_i.
UNITS = torch.arange(-40, 41, dtype=torch.float64) / 40


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`directions` has a row for each p_i: F_i is the distance between the two ends of its valley.

    At the ends L_i reaches `factor` times L_0, to the `left` and to the `right`; residual and
    iterations are those of the worse end. `slope` is the slope of ln L_i at 0; `curvature` is M_ii
    of the parabola ln L_0 + b δθ + M_ii δθ² / 2 through ln L_i at 0 and half-way to both ends. For
    b = 0 it is Eq. 7, with F_i = √(8 / M_ii). `profiles` has L_i and that parabola's loss.
    """
    layer = options["layer"]
    found = principal_of(solution, layer, options["directions"])
    directions = found.matrices(solution.parameters[f"{layer}.weight"].shape[1:])
    activity = solution.into(layer, solution.inputs)
    logits = solution.logits_from(layer, solution.preactivation(layer, activity))
    origin = sample_losses(logits, solution.labels).mean()
    left, right = interval(solution, layer, activity, directions, options["factor"])
    half = torch.stack([left.at, right.at], dim=1) / 2
    logs = (losses_along(solution, layer, activity, directions, half) / origin).log()
    linear, quadratic = _parabola(half, logs)
    columns = {
        "variance": found.variances,
        **both(left, right),
        "slope": found.directions @ gradient(solution, layer, activity) / origin,
        "curvature": 2 * quadratic,
    }

    shown = torch.tensor(options["profiles"], dtype=torch.long, device=half.device) - 1
    delta = columns["flatness"][shown, None] * UNITS.to(half)
    parabola = linear[shown, None] * delta + quadratic[shown, None] * delta.square()
    points = {
        "rank": (shown + 1).repeat_interleave(len(UNITS)),
        "delta": delta,
        "loss": losses_along(solution, layer, activity, directions[shown], delta),
        "quadratic": origin * parabola.exp(),
    }
    return {"directions": table_of(columns, numbered="rank"), "profiles": table_of(points)}


def losses_along(
    solution: Solution, layer: str, activity: Tensor, directions: Tensor, steps: Tensor
) -> Tensor:
    """The mean training loss at W + θ E_n for each θ of direction n in `steps`."""
    losses = torch.empty_like(steps)
    for n, some in enumerate(steps):
        loss = loss_along(solution, layer, activity, directions[n : n + 1])
        losses[n] = loss(torch.zeros(len(some), dtype=torch.long), some)
    return losses


def _parabola(at: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """b and c of b x + c x² through two points (directions, 2) and the origin."""
    (left, right), (below, above) = at.T, (values / at).T
    c = (above - below) / (right - left)
    return above - c * right, c
